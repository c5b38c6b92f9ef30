#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""kill -9 of each kind of node in the middle of PUTs: acknowledged is whole, failed is nowhere."""

import concurrent.futures
import hashlib
import http.client
import os
import signal
import sys
import threading
import time
import urllib.parse

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from harness import LONG, Cases, Cluster, ask, create_bucket, equal, get, list_all, put, true

case = Cases()
PUTS = 50
KILL_AT = 15  # acknowledged PUTs; the rest is under way or to come
ROUNDS = 10 if LONG else 1
ACKNOWLEDGED, REFUSED, BROKEN = "acknowledged", "refused", "broken"


def content(name, version):
    """64 KiB to 2 MiB that no other object or version has."""
    digest = hashlib.sha256(f"{name} {version}".encode()).digest()
    return digest * (2048 * (1 + digest[0] % 32))


def try_put(gateway, bucket, name, data):
    """How a PUT ended. Broken: no answer to a body that a target may have had in full."""
    path = f"/v1/objects/{bucket}/{name}?provider=ais"
    try:
        first = ask(gateway, "PUT", path, data)
    except (OSError, http.client.HTTPException):
        return REFUSED  # a gateway stores nothing
    if first.status != 307:
        true(first.status >= 400, f"PUT at the gateway: {first.status}")
        return REFUSED
    to = urllib.parse.urlsplit(first.header("Location"))
    try:
        r = ask(to.port, "PUT", f"{to.path}?{to.query}", data)
    except ConnectionRefusedError:
        return REFUSED
    except (OSError, http.client.HTTPException):
        return BROKEN
    true(r.status == 200 or r.status >= 400, f"PUT at the target: {r.status}")
    return ACKNOWLEDGED if r.status == 200 else REFUSED


def put_and_kill(gateways, bucket, pid):
    """PUTs from eight threads over all gateways; the one that counts to KILL_AT kills."""
    lock, done = threading.Lock(), []

    def one(i):
        name = f"o{i:02}"
        end = try_put(gateways[i % len(gateways)], bucket, name, content(name, 2))
        with lock:
            done.append(end)
            if end == ACKNOWLEDGED and done.count(ACKNOWLEDGED) == KILL_AT:
                os.kill(pid, signal.SIGKILL)
        return name, end

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        ends = dict(pool.map(one, range(PUTS)))
    true(list(ends.values()).count(ACKNOWLEDGED) >= KILL_AT, f"enough were acknowledged: {ends}")
    return ends


def check(port, bucket, ends):
    """Even names were there before, as version 1."""
    listed = {e["name"] for e in list_all(port, bucket)}
    for i in range(PUTS):
        name = f"o{i:02}"
        r = get(port, bucket, name)
        old = 200 if i % 2 == 0 else 404
        versions = [v for v in (1, 2) if r.body == content(name, v)] if r.status == 200 else []
        state = (r.status, versions)
        allowed = {ACKNOWLEDGED: [(200, [2])], REFUSED: [(old, [1] if old == 200 else [])]}
        allowed[BROKEN] = allowed[ACKNOWLEDGED] + allowed[REFUSED]
        true(state in allowed[ends[name]], f"{name}, {ends[name]}: {state}, {len(r.body)} bytes")
        equal(name in listed, r.status == 200, f"{name} in the list")


def kill_round(cluster, victim, number):
    bucket = f"{victim}-{number}"
    create_bucket(cluster.port, bucket)
    for i in range(0, PUTS, 2):
        put(cluster.port, bucket, f"o{i:02}", content(f"o{i:02}", 1))
    nodes = {n["node"]: n for n in cluster.nodes()}
    gateways = [int(n["public"].split(":")[1]) for n in nodes.values() if n["role"] == "gateway"]
    ends = put_and_kill(gateways, bucket, nodes[victim]["pid"])
    began = time.monotonic()
    cluster.verb("start", victim)
    took = time.monotonic() - began
    true(took < 10, f"whole again after {took:.1f} s")
    check(cluster.port, bucket, ends)
    counts = {end: list(ends.values()).count(end) for end in (ACKNOWLEDGED, REFUSED, BROKEN)}
    print(f"#   {victim}: {counts}, whole again after {took:.1f} s", flush=True)
    for i in range(PUTS):
        put(cluster.port, bucket, f"o{i:02}", b"after")


@case("a target is killed")
def _(c):
    for number in range(ROUNDS):
        kill_round(c, f"t{number % 3 + 1}", number)


@case("a gateway that is not the primary is killed")
def _(c):
    for number in range(ROUNDS):
        kill_round(c, "g2", number)


@case("the primary is killed")
def _(c):
    for number in range(ROUNDS):
        kill_round(c, "g1", number)


@case("a body that ends early stores nothing")
def _(c):
    create_bucket(c.port, "half")
    put(c.port, "half", "old", b"old")
    for name in ("new", "old"):
        data = b"x" * 1000000
        # the signature covers the length: the same is promised to the target, and not kept
        first = ask(c.port, "PUT", f"/v1/objects/half/{name}?provider=ais", data)
        to = urllib.parse.urlsplit(first.header("Location"))
        connection = http.client.HTTPConnection("127.0.0.1", to.port, timeout=30)
        connection.putrequest("PUT", f"{to.path}?{to.query}")
        connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data[:500000])
        connection.close()
    equal(get(c.port, "half", "new").status, 404, "new")
    equal(get(c.port, "half", "old").body, b"old", "old")
    equal([e["name"] for e in list_all(c.port, "half")], ["old"], "listed")


def main():
    with Cluster("kill", 18420, "--gateways", "2") as cluster:
        return case.run(cluster)


sys.exit(main())
