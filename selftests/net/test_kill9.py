#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""kill -9 at random moments of puts, overwrites, deletes and renames: the ledger is exact."""

import random
import sys
import threading
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import netring
from harness import LONG, Cases, true, wait_for
from ledger import ACKNOWLEDGED, Ledger, mixed_load
from wireclient import Client

case = Cases()
ROUNDS = 50 if LONG else 6
OPERATIONS = 200
SEED = 20261130
OBJECTS = []  # of each bucket, all cases


def kill_round(ring, victim, number):
    """200 operations; the victim dies after a random number of answers, and comes back."""
    pick = random.Random(f"{SEED} {victim} {number}")
    client = Client(ring.gateway("g1"), ring.gateway("g2"))
    bucket = f"{victim}-{number}"
    client.create_bucket(bucket)
    ledger = Ledger(client, bucket)
    at, more = pick.randrange(5, OPERATIONS // 2), pick.random() * 0.02
    stop, failed = threading.Event(), []

    def load():
        try:
            mixed_load(ledger, 8, OPERATIONS, f"{SEED} {number}", stop)
        except BaseException as e:  # pylint: disable=broad-except
            failed.append(e)

    thread = threading.Thread(target=load)
    thread.start()
    try:
        wait_for(lambda: ledger.ends[ACKNOWLEDGED] >= at or failed, 60, f"{at} answers")
        time.sleep(more)  # not to wait for anything: the moment is what is random
        took = ring.restart(victim)
        thread.join(60)
    finally:
        stop.set()
        thread.join()
    if failed:
        raise failed[0]
    objects = ledger.check()
    true(took < 10, f"whole again after {took:.1f} s")
    print(f"#   {victim}: {ledger.ends}, answers {ledger.statuses}, {objects} objects, "
          f"back after {took:.1f} s", flush=True)
    return objects


def rounds(ring, victims):
    for number in range(ROUNDS // len(victims) + (ROUNDS % len(victims) > 0)):
        for victim in victims:
            OBJECTS.append(kill_round(ring, victim, number))
    # the reaper of a target runs when it starts
    for name in ("t1", "t2", "t3"):
        ring.restart(name)
    ring.no_orphans(sum(OBJECTS))


@case("targets are killed")
def _(ring):
    rounds(ring, ("t1", "t2", "t3"))


@case("gateways are killed")
def _(ring):
    rounds(ring, ("g2", "g1"))


def main():
    netring.isolate()
    with netring.Ring("kill9", gateways=2) as ring:
        ring.up()
        return case.run(ring)


sys.exit(main())
