# SPDX-License-Identifier: BSD-2-Clause
"""
A client that writes down what was acknowledged, and checks afterwards that exactly this is there.

A name's state is what it may be: one content after an answer, the old and the new one after a
request that ended without an answer. Each is whole or it is a mistake.
"""

import concurrent.futures
import hashlib
import itertools
import random
import threading

from harness import Mismatch, equal, true
from wireclient import NotReached

ABSENT = 0
ACKNOWLEDGED, REFUSED, BROKEN = "acknowledged", "refused", "broken"
SMALL, LARGE = (1, 70000), (300000, 1500000)


def content(name, number):
    """Bytes of this version of this object, and of no other."""
    digest = hashlib.sha256(f"{name} {number}".encode()).digest()
    low, high = LARGE if digest[0] % 8 == 0 else SMALL
    size = low + int.from_bytes(digest[1:5], "big") % (high - low)
    return (digest * (size // 32 + 1))[:size]


class Ledger:
    """One thread at a time works on a name; different names may change at the same time."""

    def __init__(self, client, bucket, strict=False):
        self.client, self.bucket = client, bucket
        self.strict = strict  # an error that was answered has changed nothing
        self.lock = threading.Lock()
        self.numbers = itertools.count(1)
        self.states, self.versions, self.moves = {}, {}, []
        self.late = set()  # names of requests that we gave up and that may still be under way
        self.ends = {ACKNOWLEDGED: 0, REFUSED: 0, BROKEN: 0}
        self.statuses = {}

    def __len__(self):
        """Objects that are there, once checked."""
        return sum(s != {ABSENT} for s in self.states.values())

    def state(self, name):
        return self.states.get(name, {ABSENT})

    def end(self, request, *names):
        """How a request that changes these names ended, and the answer if there was one."""
        try:
            r = request()
        except NotReached:
            kind, r = REFUSED, None
        except TimeoutError:
            kind, r = BROKEN, None
            with self.lock:
                self.late.update(names)
        except OSError:
            kind, r = BROKEN, None
        else:
            kind = ACKNOWLEDGED if r.status == 200 else REFUSED
            true(r.status in (200, 404) or r.status >= 500,
                 f"answer {r.status}: {r.text[:300]}")
        with self.lock:
            self.ends[kind] += 1
            if r is not None:
                self.statuses[r.status] = self.statuses.get(r.status, 0) + 1
        # an error of a target: it may have been too late to take everything back
        if kind == REFUSED and r is not None and r.status != 404 and not self.strict:
            kind = REFUSED if hasattr(r, "by_gateway") else BROKEN
        return kind, r

    def settle(self, name, kind, new):
        with self.lock:
            if kind != REFUSED:
                self.moves = [m for m in self.moves if name not in m[:2]]
            if kind == ACKNOWLEDGED:
                self.states[name] = set(new)
            elif kind == BROKEN:
                self.states[name] = self.state(name) | set(new)
                self.versions.pop(name, None)

    def put(self, name, large=None):
        """With large, a content of that class: several writes, or one."""
        number = next(n for n in self.numbers
                      if large is None or large == (len(content(name, n)) >= LARGE[0]))
        kind, r = self.end(lambda: self.client.put(self.bucket, name, content(name, number)), name)
        self.settle(name, kind, {number})
        if kind == ACKNOWLEDGED:
            self.count_version(name, r)
        return kind, r

    def count_version(self, name, r):
        version = int(r.header("Ais-Version") or 0)
        with self.lock:
            true(version > self.versions.get(name, 0) or not version,
                 f"{name}: version {version} after {self.versions.get(name)}")
            self.versions[name] = version

    def delete(self, name):
        kind, r = self.end(lambda: self.client.delete(self.bucket, name), name)
        gone = r is not None and r.status == 404
        if gone:
            true(ABSENT in self.state(name), f"DELETE of {name} that is there: 404")
            kind = ACKNOWLEDGED
        self.settle(name, kind, {ABSENT})
        if kind == ACKNOWLEDGED:
            with self.lock:
                self.versions.pop(name, None)
        return kind, r

    def rename(self, name, to):
        """Contents are a name's own, so that this moves what `to` may hold from then on."""
        source = self.state(name)
        kind, r = self.end(lambda: self.client.rename(self.bucket, name, to), name, to)
        moved = {s if isinstance(s, tuple) else (name, s) for s in source if s != ABSENT}
        if r is not None and r.status == 404:
            true(ABSENT in source, f"rename of {name} that is there: 404")
            self.settle(name, ACKNOWLEDGED, {ABSENT})
            return kind, r
        self.settle(to, kind, moved)
        self.settle(name, kind, {ABSENT})
        with self.lock:
            self.versions.pop(name, None)
            self.versions.pop(to, None)
            if kind == BROKEN and ABSENT not in source:
                self.moves.append((name, to, moved))
        return kind, r

    # ---- checking

    @staticmethod
    def bytes_of(name, state):
        return content(*state) if isinstance(state, tuple) else content(name, state)

    def look(self, name):
        """Which of its states the object is in."""
        r = self.client.get(self.bucket, name)
        if r.status == 404:
            found = ABSENT
        else:
            equal(r.status, 200, f"GET {name}: {r.text[:300]}")
            found = next((s for s in self.state(name)
                          if s != ABSENT and r.body == self.bytes_of(name, s)), None)
            if found is None:
                raise Mismatch(f"{name}: {len(r.body)} bytes, {self.origin(name, r.body)}, "
                               f"want one of {self.state(name)}")
        true(found in self.state(name), f"{name} is {found}, want one of {self.state(name)}")
        self.check_head(name, found, r)
        return found

    def origin(self, name, body):
        for number in range(1, 100000):
            whole = content(name, number)
            if whole[:32] == body[:32]:
                return f"version {number}, " + ("whole" if whole == body else "damaged")
            if number > 20000:
                break
        return "of unknown origin"

    def check_head(self, name, found, got):
        h = self.client.head(self.bucket, name)
        equal(h.status, 404 if found == ABSENT else 200, f"HEAD {name}")
        if found == ABSENT:
            return
        equal(int(h.header("Content-Length")), len(got.body), f"length of {name}")
        equal(h.header("Ais-Version"), got.header("Ais-Version"), f"version of {name}")
        if self.versions.get(name):
            equal(int(h.header("Ais-Version")), self.versions[name], f"version of {name}")

    def check(self):
        """All of it; what was uncertain is certain afterwards. Return the number of objects."""
        names = sorted(self.states)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            seen = dict(zip(names, pool.map(self.look, names)))
        for name, to, moved in self.moves:
            true(seen[name] != ABSENT or seen[to] in moved,
                 f"{name} was renamed to {to} and is in neither place")
        self.moves = []
        self.states = {name: {state} for name, state in seen.items()}
        there = {n: len(self.bytes_of(n, s)) for n, s in seen.items() if s != ABSENT}
        listed = {n: int(e.get("size", 0)) for n, e in
                  self.client.list_all(self.bucket, pagesize=random.choice((0, 7))).items()}
        equal(sorted(set(listed) ^ set(there)), [], "the list and the ledger differ")
        equal(listed, there, "sizes in the list")
        return len(there)


def mixed_load(ledger, workers, operations, seed, stop=None, renames=True):
    """Puts, overwrites, deletes and renames from several threads, each with names of its own."""
    def work(number):
        pick = random.Random(f"{seed} {number}")
        names = [f"w{number}/{i:02}" for i in range(12)]
        for _ in range(operations // workers):
            if stop is not None and stop.is_set():
                return
            # a request that is still under way may win over a later one
            names = [n for n in names if n not in ledger.late]
            if len(names) < 2:
                return
            name, what = pick.choice(names), pick.random()
            if what < 0.65:
                ledger.put(name)
            elif what < 0.9 or not renames:
                ledger.delete(name)
            else:
                ledger.rename(name, pick.choice([n for n in names if n != name]))

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(work, n) for n in range(workers)]:
            done.result()
