#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Cut, lossy, slow and busy networks: nobody is forgotten, nothing is lost, all is whole again."""

import json
import os
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import netring
from harness import LONG, Cases, equal, true, wait_for
from ledger import Ledger, mixed_load
from slownet import Delay
from wireclient import Client, ask

case = Cases()
WHOLE_S = 15  # after the network is back
LATE_S = 30
LOAD_S = 60 if LONG else 10
LIMIT_MS = 100
HERE = os.path.dirname(os.path.realpath(__file__))


def smap_of(ring, node):
    try:
        r = ask(ring.address(node, "public"), ring.port(node, "public"), "GET",
                "/v1/daemon?what=smap", timeout=5)
        return r.json() if r.status == 200 else {}
    except (OSError, netring.Mismatch):
        return {}


def versions(ring):
    return [smap_of(ring, n).get("version") for n in ring.nodes]


def is_whole(ring):
    """All nodes in one map, the same one, all ready."""
    ids = {n["id"] for n in ring.nodes}
    return (len(set(versions(ring))) == 1 and all(ring.members(n) == ids for n in ring.nodes)
            and all(ring.status(n, "/v1/health?readiness=true") == 200 for n in ring.nodes))


class Watch:
    """A bucket and a ledger; afterwards the cluster is whole and the ledger exact."""

    def __init__(self, ring, bucket, same_map=True):
        self.ring, self.same_map = ring, same_map
        client = Client(ring.gateway("g1"), ring.gateway("g2"), timeout=6)
        client.create_bucket(bucket)
        self.ledger = Ledger(client, bucket)
        mixed_load(self.ledger, 4, 80, bucket)
        equal(set(self.ledger.statuses) - {200, 404}, set(), "answers while nothing fails")

    def __enter__(self):
        self.map = versions(self.ring)
        return self.ledger

    def __exit__(self, kind, *_):
        for node in self.ring.nodes:
            self.ring.heal(node["node"])
        if kind:
            for node in self.ring.nodes:
                if not self.ring.alive(node["node"]):
                    self.ring.up(node["node"])
        wait_for(lambda: is_whole(self.ring), WHOLE_S, "whole after the network is back")
        if kind:
            return
        if self.same_map:
            equal(versions(self.ring), self.map, "versions of the map")
        # a gateway that has just heard of a node again serves it
        wait_for(self.served, WHOLE_S, "every name is served again")
        # what clients gave up is under way until its packets arrive
        objects = (wait_for(self.exact, LATE_S, "the ledger is exact") if self.ledger.late else
                   self.ledger.check())
        print(f"#   {self.ledger.ends}, answers {self.ledger.statuses}, {objects} objects",
              flush=True)

    def exact(self):
        try:
            return self.ledger.check()
        except netring.Mismatch as e:
            print(f"#   not yet: {e}"[:200], flush=True)
            return 0

    def served(self):
        try:
            return all(self.ledger.client.head(self.ledger.bucket, name).status in (200, 404)
                       for name in self.ledger.states)
        except OSError:
            return False


def load(ledger, seed, operations=80):
    mixed_load(ledger, 8, operations, seed)


@case("control network of a target is cut: it keeps its names, all is served again")
def _(ring):
    with Watch(ring, "control") as ledger:
        ring.cut("t1", "control")
        load(ledger, "c")
        gateway = ring.node("g1")

        def refused():
            """Whom the gateway does not hear is not where clients are sent."""
            answers = [ask(*ring.gateway("g1"), "GET", Client.path("control", name))
                       for name in ledger.states]
            return [r for r in answers if r.status == 503]

        answers = wait_for(refused, 20, "503 for names of the silent target")
        true(all(r.header("Retry-After") for r in answers), "503 has Retry-After")
        true(ring.node("t1")["id"] in ring.members(gateway), "the silent target stays in the map")


@case("control network of a target is cut one way only")
def _(ring):
    for way, words in (("in", {"outgoing": False}), ("out", {"incoming": False})):
        with Watch(ring, f"oneway-{way}") as ledger:
            ring.cut("t2", "control", **words)
            load(ledger, way)


@case("data network of a target is cut: renames between targets fail whole")
def _(ring):
    with Watch(ring, "data") as ledger:
        ring.cut("t1", "data")
        load(ledger, "d", 160)


@case("public network of a target is cut: clients get no answer, the ledger stays exact")
def _(ring):
    with Watch(ring, "public") as ledger:
        ring.cut("t3", "public")
        load(ledger, "p", 24)


@case("a cable is pulled and put back")
def _(ring):
    with Watch(ring, "cable") as ledger:
        ring.cable_down("t2", "control")
        ring.cable_down("t2", "data")
        try:
            load(ledger, "cable")
        finally:
            ring.cable_up("t2", "control")
            ring.cable_up("t2", "data")


@case("the primary is cut off from all others")
def _(ring):
    with Watch(ring, "primary") as ledger:
        ring.cut("g1", "control")
        load(ledger, "primary")


@case("everyone is cut off from everyone")
def _(ring):
    with Watch(ring, "all") as ledger:
        for node in ring.nodes:
            ring.cut(node["node"], "control")
            ring.cut(node["node"], "data")
        load(ledger, "all")


@case("a target starts while the primary does not hear it, and joins when it does")
def _(ring):
    with Watch(ring, "start", same_map=False) as ledger:
        ring.kill("t1")
        ring.cut("t1", "control")
        ring.spawn(ring.node("t1"))
        load(ledger, "start")


@case("one packet in ten is lost on all networks")
def _(ring):
    with Watch(ring, "loss") as ledger:
        for node in ring.nodes:
            for net in ("control", "data"):
                ring.lose(node["node"], net, 10, outgoing=False)
        load(ledger, "loss", 160)


@case("control network of 300 ms: no node is taken for dead")
def _(ring):
    with Watch(ring, "slow") as ledger, Delay(ring, "t1", "control", 150):
        load(ledger, "slow", 160)
        wait_for(lambda: is_whole(ring), WHOLE_S, "the map is the same everywhere")
        equal(ledger.statuses.get(503, 0), 0, "503 because of a slow network")


def generate(kind, seconds, connections, *places):
    return subprocess.Popen([sys.executable, os.path.join(HERE, "loadgen.py"), kind, str(seconds),
                             str(connections), *places], stdout=subprocess.PIPE, text=True)


def figures(child):
    out, _ = child.communicate(timeout=LOAD_S + 60)
    equal(child.returncode, 0, "exit of the load")
    return json.loads(out)


def signed(ring, method, name, size=0):
    """Where the gateway sends a request."""
    r = ask(*ring.gateway(), method, Client.path("busy", name), b"x" * size if size else None)
    equal(r.status, 307, r.text[:200])
    return r.header("Location")


@case("health and control stay prompt under full load (P-49), and nobody is taken for dead")
def _(ring):
    client = Client(ring.gateway())
    client.create_bucket("busy")
    names = [f"big{i}" for i in range(12)]
    for name in names:
        equal(client.put("busy", name, bytes(16 << 20)).status, 200, "PUT")
    before = versions(ring)
    stalls = []
    ended = threading.Event()

    def watch():
        while not ended.wait(0.5):
            stalls.extend(v for v in versions(ring) if v not in (before[0], None))

    gets = generate("gets", LOAD_S + 2, 200, *[signed(ring, "GET", n) for n in names])
    puts = generate("puts", LOAD_S + 2, 50, *[signed(ring, "PUT", f"slow{i}", 100000)
                                               for i in range(50)])
    places = [f"{ring.address(n, net)}:{ring.port(n, net)}" for n in ring.nodes
              for net in ("public", "control")]
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        health = figures(generate("health", LOAD_S, 1, *places))
    finally:
        ended.set()
        watcher.join()
    got, put = figures(gets), figures(puts)
    print(f"#   health: {health['count']} requests, p50 {health['p50']:.1f} ms, p99 "
          f"{health['p99']:.1f} ms, max {health['max']:.1f} ms; GETs {got}; PUTs {put}")
    true(got["bytes"] > 100 << 20, "the load was one")
    equal((health["bad"], got["failed"], got["broken"]), (0, 0, 0), "failed requests")
    true(health["p99"] < LIMIT_MS, f"p99 of health is {health['p99']:.1f} ms")
    equal((stalls, versions(ring)), ([], before), "changes of the map")
    true(is_whole(ring), "all nodes are in")


def main():
    netring.isolate()
    with netring.Ring("partition", gateways=2) as ring:
        ring.up()
        return case.run(ring)


sys.exit(main())
