#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A full disk, a real one of 64 MiB: 507, reads and DELETE go on, PUT works again afterwards."""

import concurrent.futures
import os
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import netring
from faults import fill, free_bytes, mount_small, run
from harness import Cases, equal, true, wait_for
from ledger import ACKNOWLEDGED, Ledger
from wireclient import Client

case = Cases()
MEBIBYTES = 64


class Disk:
    """A target on a small file system, and a ledger."""

    def __init__(self, name, *options):
        self.ring = netring.Ring(name, targets=1)
        self.options = options

    def __enter__(self):
        self.ring.__enter__()
        try:
            node = self.ring.node("t1")
            self.where = self.ring.path(node, "mp1")
            mount_small(os.path.join(self.ring.dir, "image"), self.where, MEBIBYTES, *self.options)
            self.ring.up()
            self.client = Client(self.ring.gateway())
            self.client.create_bucket("b")
            self.ledger = Ledger(self.client, "b", strict=True)
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(self, kind, *_):
        for node in self.ring.nodes:
            self.ring.kill(node["node"])
        run("umount", self.where, check=False)
        self.ring.__exit__(kind)

    def put_until_full(self, threads=4, large=None):
        """Return how many were stored; every refusal is a 507."""
        def one(number):
            stored = 0
            while True:
                kind, r = self.ledger.put(f"n{number}/{stored:05}", large)
                true(r is not None, "a PUT was answered")
                if kind != ACKNOWLEDGED:
                    equal(r.status, 507, f"PUT on a full disk: {r.text[:200]}")
                    true("out of space" in r.json()["message"], f"message {r.text[:200]}")
                    return stored
                stored += 1
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            return sum(pool.map(one, range(threads)))

    def there(self):
        return [n for n, s in self.ledger.states.items() if s != {0}]

    def checked(self):
        objects = self.ledger.check()
        wait_for(lambda: self.ring.blobs() == (objects, []), 5,
                 f"one file an object: {self.ring.blobs()}, {objects} objects")
        equal(self.ring.status(self.ring.node("t1"), "/v1/health"), 200, "health")


@case("PUTs until there is no room: 507, and nothing is half there")
def _(d):
    stored = d.put_until_full(large=True)
    print(f"#   {stored} objects, {free_bytes(d.where)} bytes free")
    true(stored > 20, f"{stored} objects fit")
    d.checked()


@case("others fill the rest: objects are read, listed; overwriting is 507 and changes nothing")
def _(d):
    fill(d.where)
    true(free_bytes(d.where) < 4096, "no byte is free")
    for name in d.there()[:5]:
        _, r = d.ledger.put(name, large=True)
        equal(r.status, 507, f"overwrite of {name}: {r.text[:200]}")
        r = d.client.patch("b", name, {"a": "b"})
        true(r.status in (200, 507), f"PATCH of {name}: {r.status}")
    d.checked()


@case("kill -9 and start on the full disk")
def _(d):
    d.ring.restart("t1")
    d.checked()


@case("DELETE of all on the full disk")
def _(d):
    names = d.there()
    for name in names[:len(names) // 2]:
        kind, r = d.ledger.delete(name)
        equal(kind, ACKNOWLEDGED, f"DELETE of {name}: {r and (r.status, r.text[:200])}")
    d.checked()


@case("then PUT works, without a restart")
def _(d):
    for i in range(8):
        kind, r = d.ledger.put(f"after{i}", large=True)
        equal(kind, ACKNOWLEDGED, f"PUT: {r and (r.status, r.text[:200])}")
    d.checked()


@case("full once more, then the room comes back from outside")
def _(d):
    d.put_until_full(large=True)
    fill(d.where)
    os.unlink(os.path.join(d.where, "filler"))
    equal(d.ledger.put("small", large=False)[0], ACKNOWLEDGED, "PUT")
    d.checked()


@case("many small objects until there is no room, and all deleted")
def _(d):
    stored = d.put_until_full(large=False)
    d.checked()
    names = d.there()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for name, (kind, r) in zip(names, pool.map(d.ledger.delete, names)):
            equal(kind, ACKNOWLEDGED, f"DELETE of {name}: {r and (r.status, r.text[:200])}")
    print(f"#   {stored} small ones stored, {len(names)} objects deleted")
    equal(d.client.list_all("b"), {}, "the list")
    d.checked()


inodes = Cases()


@inodes("no inode is left: 507, DELETE gives one back")
def _(d):
    stored = d.put_until_full(large=False)
    true(os.statvfs(d.where).f_ffree == 0, "no inode is free")
    d.checked()
    equal(d.ledger.delete(d.there()[0])[0], ACKNOWLEDGED, "DELETE")
    kind, r = d.ledger.put("again", large=False)
    equal(kind, ACKNOWLEDGED, f"PUT: {r and (r.status, r.text[:200])}")
    d.checked()
    print(f"#   {stored} objects")


def main():
    netring.isolate()
    with Disk("full") as d:
        failed = case.run(d)
    with Disk("inodes", "-N", "700") as d:
        return inodes.run(d) or failed


sys.exit(main())
