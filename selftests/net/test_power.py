#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""
Power cuts: what no fsync covered is taken back, then the ledger has to be exact all the same.

The shim notes each change on the target's disk before it is made. After a kill -9 whatever was
not synced is undone: bytes, sizes, xattrs, names; all of it, or that of a random half of files.
"""

import random
import sys
import threading

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import netring
from harness import LONG, Cases, equal, true, wait_for
from ledger import ACKNOWLEDGED, Ledger, mixed_load
from wireclient import Client

case, sharp = Cases(), Cases()
ROUNDS = 30 if LONG else 4
OPERATIONS = 160
SEED = 7


def load_and_cut(ring, ledger, number, half):
    """Operations until a random number of answers; the power goes; the disk as it then is."""
    pick = random.Random(f"{SEED} {number} {half}")
    stop, failed = threading.Event(), []

    def load():
        try:
            mixed_load(ledger, 4, OPERATIONS, f"{SEED} {number} {half}", stop)
        except BaseException as e:  # pylint: disable=broad-except
            failed.append(e)

    before, at = ledger.ends[ACKNOWLEDGED], pick.randrange(5, OPERATIONS // 2)
    thread = threading.Thread(target=load)
    thread.start()
    try:
        wait_for(lambda: ledger.ends[ACKNOWLEDGED] >= before + at or failed, 60, f"{at} answers")
        ring.kill("t1")
    finally:
        stop.set()
        thread.join()
    if failed:
        raise failed[0]
    return ring.shim("t1").power.cut(number if half else None)


def cuts(ring, half):
    bucket = "half" if half else "all"
    client = Client(ring.gateway())
    client.create_bucket(bucket)
    ledger = Ledger(client, bucket)
    lost = 0
    for number in range(ROUNDS):
        undone, pending = load_and_cut(ring, ledger, number, half)
        lost += undone
        ring.up("t1")
        objects = ledger.check()
        print(f"#   {undone} of {pending} changes undone, {ledger.ends}, {objects} objects",
              flush=True)
    true(lost > 0, "something was lost, else this shows nothing")
    wait_for(lambda: ring.blobs() == (objects, []), 5, f"{ring.blobs()} of {objects} objects")
    equal(client.destroy_bucket(bucket).status, 200, "destroy")
    wait_for(lambda: ring.blobs() == (0, []), 10, "all files are gone")


@case("power cuts that lose all that was not synced")
def _(ring):
    cuts(ring, False)


@case("power cuts that lose a part of it")
def _(ring):
    cuts(ring, True)


@case("an answer to create a bucket outlives a power cut of all nodes")
def _(ring):
    client = Client(ring.gateway())
    for number in range(ROUNDS):
        client.create_bucket(f"made{number}")
        for name in ("g1", "t1"):
            ring.kill(name)
        for name in ("g1", "t1"):
            ring.shim(name).power.cut()
        ring.up()
        for i in range(number + 1):
            equal(client.ask("HEAD", f"/v1/buckets/made{i}?provider=ais").status, 200, f"made{i}")


@sharp("without durability the same cuts are seen to lose objects")
def _():
    with netring.Ring("cache", targets=1, settings={"store.durability": "none"}) as ring:
        ring.shim("t1", power=True)
        ring.up()
        try:
            cuts(ring, False)
        except netring.Mismatch as e:
            print(f"#   {e}")
        else:
            raise netring.Mismatch("nothing is lost: these tests would find nothing")


def main():
    netring.isolate()
    with netring.Ring("power", targets=1) as ring:
        ring.shim("t1", power=True)
        ring.shim("g1", power=True)
        ring.up()
        status = case.run(ring)
    return sharp.run() or status


sys.exit(main())
