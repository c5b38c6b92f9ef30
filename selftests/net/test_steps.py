#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""
The process ends at each step of each operation: old or new, whole, and nothing left over.

An operation is run once to count its system calls on the store, then once for each of them with
a kill -9 behind it (LONG=1: before it too).
"""

import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import netring
from faults import BLOB, STATE_STEPS, STORE_STEPS, count_steps
from harness import LONG, Cases, act, equal, true, wait_for
from ledger import ACKNOWLEDGED, Ledger
from wireclient import Client

case = Cases()
KEPT = 5  # objects that nobody touches


class Place:
    """One target with one disk, and a bucket with a few objects."""

    def __init__(self, ring, bucket):
        self.ring, self.bucket = ring, bucket
        self.client = Client(ring.gateway())
        self.client.create_bucket(bucket)
        self.ledger = Ledger(self.client, bucket)
        for i in range(KEPT):
            self.sure(self.ledger.put(f"kept{i}"))

    @staticmethod
    def sure(result):
        equal(result[0], ACKNOWLEDGED, "a request while nothing fails")

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.client.destroy_bucket(self.bucket)
        if not kind:
            wait_for(lambda: self.ring.blobs() == (0, []), 10, "no file is left of the bucket")


def moments(call, path, count):
    """Which of so many equal calls to end at. In how many steps data arrives is not ours to say."""
    if (call, path) == ("write", BLOB):
        return [1] if count else []
    return sorted({1, 2, count} & set(range(1, count + 1))) if not LONG else range(1, count + 1)


def dies(ring, node, sure):
    """Wait for its end. What is not sure is a later one of several calls, which may be fewer."""
    try:
        ring.wait_end(node, 5 if sure else 0.5)
    except netring.Mismatch:
        true(not sure, f"it lives on; fitting calls, hits: {ring.shim(node).counts(0)}")
        return False
    return True


def kill_at(ring, node, operation, check, rule):
    """operation() with that rule, and the node back. Return whether it was ended."""
    shim = ring.shim(node)
    operation(lambda: shim.kill(*rule))
    try:
        return dies(ring, node, rule[3] == 1)
    finally:
        shim.clear()
        if not ring.alive(node):
            ring.up(node)
        check()


def sweep(ring, node, steps, operation, check):
    """operation(arm) calls arm() when prepared. check() sees that the node is as it has to be."""
    kills = 0
    for (name, call, path), count in zip(
            steps, count_steps(ring.shim(node), steps, operation, check)):
        for nth in moments(call, path, count):
            for when in ("before", "after") if LONG or nth == 1 else ("after",):
                where = f"killed {when} call {nth} of {count}: {name}"
                try:
                    kills += kill_at(ring, node, operation, lambda: check(where),
                                     (when, call, path, nth))
                except netring.Mismatch as e:
                    raise netring.Mismatch(f"{where}: {e}") from e
    true(kills > 1, "the shim sees the steps")
    print(f"#   {kills} kills", flush=True)


def settled(place):
    """All files are of objects: what was replaced goes after the answer."""
    objects = place.ledger.check()
    wait_for(lambda: place.ring.blobs() == (objects, []), 5,
             f"one file an object: {place.ring.blobs()}, {objects} objects")


def object_case(ring, bucket, prepare, act_on):
    """prepare() undisturbed, then act_on() with the rule set."""
    with Place(ring, bucket) as place:
        def operation(arm):
            prepare(place)
            settled(place)
            arm()
            act_on(place)

        sweep(ring, "t1", STORE_STEPS, operation, lambda where: settled(place))


@case("PUT of a new object")
def _(ring):
    object_case(ring, "put", lambda p: p.sure(p.ledger.delete("x")),
                lambda p: p.ledger.put("x", large=True))


@case("PUT over an object")
def _(ring):
    object_case(ring, "over", lambda p: p.sure(p.ledger.put("x", large=True)),
                lambda p: p.ledger.put("x", large=True))


@case("DELETE")
def _(ring):
    object_case(ring, "delete", lambda p: p.sure(p.ledger.put("x", large=True)),
                lambda p: p.ledger.delete("x"))


@case("rename of an object")
def _(ring):
    def prepare(p):
        p.sure(p.ledger.put("x", large=True))
        p.sure(p.ledger.put("y"))

    object_case(ring, "rename", prepare, lambda p: p.ledger.rename("x", "y"))


@case("PATCH of custom metadata")
def _(ring):
    with Place(ring, "patch") as place:
        values = ["0"]

        def operation(arm):
            values[:] = [values[-1], str(int(values[-1]) + 1)]
            arm()
            kind, _ = place.ledger.end(
                lambda: place.client.patch("patch", "kept0", {"n": values[1]}))
            if kind == ACKNOWLEDGED:
                del values[0]

        def check(where):
            h = place.client.head("patch", "kept0")
            equal(h.status, 200, f"{where}: HEAD")
            custom = dict(v.split("=", 1) for v in h.all("Ais-Custom-Md"))
            true(custom.get("n", "0") in values, f"{where}: custom is {custom}, want n of {values}")
            values[:] = [custom.get("n", "0")]
            settled(place)

        sweep(ring, "t1", STORE_STEPS, operation, check)


def bucket_there(client, bucket):
    r = client.ask("HEAD", f"/v1/buckets/{bucket}?provider=ais")
    true(r.status in (200, 404), f"HEAD of {bucket}: {r.status}")
    return r.status == 200


def destroy_case(ring, node, steps):
    """Of a bucket beside another one, which stays as it is."""
    with Place(ring, f"beside-{node}") as kept:
        ends = []

        def operation(arm):
            place = Place(ring, f"gone{len(ends)}-{node}")
            arm()
            ends.append((place, place.ledger.end(
                lambda: place.client.destroy_bucket(place.bucket))))

        def check(where):
            place, (kind, _) = ends[-1]
            there = bucket_there(place.client, place.bucket)
            true(not there or kind != ACKNOWLEDGED, f"{where}: destroyed, and it is there")
            objects = place.ledger.check() if there else 0
            if not there:
                equal(place.client.get(place.bucket, "kept0").status, 404, f"{where}: GET")
            wait_for(lambda: ring.blobs() == (kept.ledger.check() + objects, []), 10,
                     f"{where}: no file of the bucket is left: {ring.blobs()} of {KEPT + objects}")
            if there:
                equal(place.client.destroy_bucket(place.bucket).status, 200, f"{where}: once more")
                wait_for(lambda: ring.blobs() == (KEPT, []), 10, f"{where}: then no file is left")

        sweep(ring, node, steps, operation, check)


@case("destruction of a bucket, target")
def _(ring):
    destroy_case(ring, "t1", STORE_STEPS + STATE_STEPS)


@case("destruction of a bucket, gateway")
def _(ring):
    destroy_case(ring, "g1", STATE_STEPS)


def bucket_rename_case(ring, node):
    names = [f"{node}-0"]
    with Place(ring, names[0]) as place:

        def operation(arm):
            names.append(f"{node}-{int(names[-1][3:]) + 1}")
            arm()
            path = f"/v1/buckets/{names[0]}?provider=ais&bck_to=ais%2F%40%23%2F{names[1]}%2F"
            kind, _ = place.ledger.end(lambda: place.client.ask(
                "POST", path, act("move-bck", "")))
            if kind == ACKNOWLEDGED:
                del names[0]

        def check(where):
            there = [n for n in names if bucket_there(place.client, n)]
            true(len(there) == 1, f"{where}: of {names} there are {there}")
            names[:] = there
            place.ledger.bucket = place.bucket = there[0]
            settled(place)

        sweep(ring, node, STATE_STEPS, operation, check)


@case("rename of a bucket, gateway")
def _(ring):
    bucket_rename_case(ring, "g1")


@case("rename of a bucket, target")
def _(ring):
    bucket_rename_case(ring, "t1")


def main():
    netring.isolate()
    with netring.Ring("steps", targets=1) as ring:
        ring.shim("t1")
        ring.shim("g1")
        ring.up()
        return case.run(ring)


sys.exit(main())
