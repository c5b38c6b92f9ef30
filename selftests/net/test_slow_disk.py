#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A disk that is slow at writing: reads, lists, health and control stay prompt (P-08, P-49)."""

import json
import os
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import netring
from harness import LONG, Cases, equal, true
from ledger import ACKNOWLEDGED, Ledger
from wireclient import Client

case = Cases()
SECONDS = 30 if LONG else 6
HERE = os.path.dirname(os.path.realpath(__file__))
WRITERS = 24  # more than a target has threads that wait for disks
DELAY_MS = 300


def under_load(ring, bucket, measure):
    """Writers that the disk holds up, while measure() runs; then the ledger."""
    client = Client(ring.gateway())
    client.create_bucket(bucket)
    ledger = Ledger(client, bucket)
    for i in range(10):
        equal(ledger.put(f"kept{i}")[0], ACKNOWLEDGED, "PUT")
    before = ring.members(ring.node("g1"))
    shim, ended, failed = ring.shim("t1"), threading.Event(), []
    for call, path in (("fsync", "*/blob/??/*"), ("fdatasync", "*/blob/??/*")):
        shim.delay(call, path, DELAY_MS)

    def write(number):
        try:
            for i in range(1000):
                if ended.is_set():
                    return
                ledger.put(f"w{number}/{i % 5}")
        except netring.Mismatch as e:
            failed.append(e)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(WRITERS)]
    for t in threads:
        t.start()
    try:
        measure(ledger)
    finally:
        ended.set()
        for t in threads:
            t.join()
        shim.clear()
    if failed:
        raise failed[0]
    equal(set(ledger.statuses) - {200}, set(), "answers")
    objects = ledger.check()
    equal(ring.members(ring.node("g1")), before, "members")
    print(f"#   {ledger.ends}, {objects} objects", flush=True)


@case("health and control are prompt while all writers wait for the disk")
def _(ring):
    def measure(_):
        node = ring.node("t1")
        places = [f"{ring.address(node, net)}:{ring.port(node, net)}"
                  for net in ("public", "control")]
        r = subprocess.run([sys.executable, os.path.join(HERE, "loadgen.py"), "health",
                            str(SECONDS), "1", *places], capture_output=True, text=True, check=True)
        health = json.loads(r.stdout)
        print(f"#   {health}")
        equal(health["bad"], 0, "failed requests")
        true(health["p99"] < 100, f"p99 of health is {health['p99']:.1f} ms")

    under_load(ring, "health", measure)


@case("GETs, HEADs and lists of what is there do not wait for writers")
def _(ring):
    def measure(ledger):
        times = {"GET": [], "HEAD": [], "list": []}
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            for what, request in (
                    ("GET", lambda: ledger.client.get(ledger.bucket, "kept3").status),
                    ("HEAD", lambda: ledger.client.head(ledger.bucket, "kept4").status),
                    ("list", lambda: 200 if ledger.client.list_all(ledger.bucket) else 0)):
                began = time.monotonic()
                equal(request(), 200, what)
                times[what].append((time.monotonic() - began) * 1000)
        middle = {w: sorted(t)[len(t) // 2] for w, t in times.items()}
        worst = {w: sorted(t)[len(t) * 95 // 100] for w, t in times.items()}
        print(f"#   ms, p50 {middle}, p95 {worst}, {len(times['GET'])} each")
        true(max(worst.values()) < DELAY_MS, f"p95 is below one wait of the disk: {worst}")

    under_load(ring, "reads", measure)


def main():
    netring.isolate()
    with netring.Ring("slow", targets=1) as ring:
        ring.shim("t1")
        ring.up()
        return case.run(ring)


sys.exit(main())
