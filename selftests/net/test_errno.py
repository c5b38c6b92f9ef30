#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""
Each errno at each step of each operation: the right status, nothing half-visible, reads go on,
and all is well when the cause is gone, without a restart.
"""

import contextlib
import json
import os
import socket
import sys
import urllib.parse

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import netring
from faults import FOLDER, ROOT_PAGE, STORE_STEPS, WORK_STEPS, count_steps
from harness import Cases, equal, true, wait_for
from ledger import ACKNOWLEDGED, Ledger, content
from wireclient import Client, ask

case = Cases()
ERRNOS = ("ENOSPC", "EDQUOT", "EIO", "EROFS", "EMFILE")
FULL = ("ENOSPC", "EDQUOT")
KEPT = 3
Mismatch = netring.Mismatch


class Table:
    """The cells of one operation; each failed one is a line, and the rest are tried too."""

    def __init__(self, ring, bucket):
        self.ring, self.bucket = ring, bucket
        self.shim = ring.shim("t1")
        self.client = Client(ring.gateway())
        self.client.create_bucket(bucket)
        self.ledger = Ledger(self.client, bucket)
        self.kept = {}
        for i in range(KEPT):
            self.ledger.put(f"kept{i}", large=i == 0)
            (number,) = self.ledger.state(f"kept{i}")
            self.kept[f"kept{i}"] = content(f"kept{i}", number)
        self.cells, self.bad = 0, []

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.shim.clear()
        if not self.ring.alive("t1"):
            self.ring.up("t1")
        self.client.destroy_bucket(self.bucket)
        if kind:
            return
        print(f"#   {self.cells} cells", flush=True)
        if self.bad:
            raise Mismatch(f"{len(self.bad)} of {self.cells} cells:\n#   " +
                           "\n#   ".join(self.bad))

    def reads_go_on(self):
        for name, data in self.kept.items():
            r = self.client.get(self.bucket, name)
            equal(r.status, 200, f"GET of another object meanwhile: {r.text[:200]}")
            true(r.body == data, f"bytes of {name} meanwhile")
            equal(self.client.head(self.bucket, name).status, 200, "HEAD meanwhile")
        true(set(self.kept) <= set(self.client.list_all(self.bucket)), "the list meanwhile")
        equal(self.ring.status(self.ring.node("t1"), "/v1/health"), 200, "health meanwhile")

    def mountpaths(self):
        return json.loads(self.reverse("GET", "?what=mountpaths").text)

    def reverse(self, method, query="", message=None):
        return self.client.ask(method, f"/v1/reverse/daemon{query}",
                               json.dumps(message).encode() if message else None,
                               {"Ais-Node-Id": self.ring.node("t1")["id"]})

    def reads_or_out(self):
        """An index whose commit failed in doubt may be out: then its disk says so."""
        out = 0
        for name, data in self.kept.items():
            r = self.client.get(self.bucket, name)
            if r.status == 200:
                true(r.body == data, f"bytes of {name} meanwhile")
                continue
            out += 1
            equal((r.status, json.loads(r.text)["tcode"]), (503, "ErrMpathOut"), name)
        if out:
            equal(len(self.mountpaths()["disabled"]), 1, "mountpaths that are out")
        equal(self.ring.status(self.ring.node("t1"), "/v1/health"), 200, "health meanwhile")

    def enable(self):
        for path in self.mountpaths()["disabled"]:
            message = {"action": "enable-mp", "name": "", "value": path}
            r = self.reverse("POST", "/mountpaths", message)
            equal(r.status, 200, f"enable-mp: {r.text[:200]}")
        equal(self.mountpaths()["disabled"], [], "mountpaths that are out")

    def settled(self, limit=5):
        objects = self.ledger.check()
        wait_for(lambda: self.ring.blobs() == (objects, []), limit,
                 f"one file an object: {self.ring.blobs()}, {objects} objects")

    def cell(self, where, rule, prepare, request, judge):
        """One fault: request() returns an answer, which judge() takes."""
        self.cells += 1
        try:
            prepare()
            pid = self.ring.pid("t1")
            number = self.shim.fail(*rule)
            r = request()
            true(self.ring.alive("t1"), "the daemon ended")
            true(r is not None, "the request got no answer")
            # an old blob goes after the answer
            wait_for(lambda: self.shim.hits(number), 5, "the fault was hit")
            if rule[1] == ROOT_PAGE:
                self.reads_or_out()
            else:
                self.reads_go_on()
            self.shim.clear()
            if rule[1] == ROOT_PAGE:
                self.enable()
                self.reads_go_on()
            judge(r)
            prepare()
            r = request()
            true(r is not None and r.status == 200,
                 f"the same without the fault: {r and (r.status, r.text[:200])}")
            equal(self.ring.pid("t1"), pid, "pid")
        except (Mismatch, OSError) as e:
            self.bad.append(f"{where}: {e}"[:400].rstrip())
            self.shim.clear()
            self.repair()

    def repair(self):
        """A failed cell takes the next one nothing: a fresh start."""
        self.ring.restart("t1")
        with contextlib.suppress(Mismatch):
            self.ledger.check()


def allowed(step, error):
    if step in ("set the xattr", "set its xattr") and error in FULL:
        return (200,)  # the copy of the record goes to a file beside the blob
    if step.startswith("unlink"):
        return (200,)  # the record has been committed: the blob is left to the reaper
    return (507,) if error in FULL else (500, 503)


def run_table(table, steps, prepare, request, late=()):
    """late: steps after the commit, where an error may come with the operation done."""
    def operation(arm):
        prepare()
        table.settled()
        arm()
        request()

    counts = count_steps(table.shim, steps, operation, lambda _: table.settled())
    for (step, call, path), count in zip(steps, counts):
        # that page is in place already: it needs no room and no descriptor
        for error in (ERRNOS if path != ROOT_PAGE else ("EIO", "EROFS")) if count else ():
            one_cell(table, (step, call, path), error, (prepare, request),
                     step in late or path == ROOT_PAGE)


def one_cell(table, at, error, functions, late):
    step, call, path = at
    prepare, request = functions
    before = {}

    def prepared():
        prepare()
        if not step.startswith("unlink"):
            table.settled()
        before.update({n: set(s) for n, s in table.ledger.states.items()})

    def judge(r):
        true(r.status in allowed(step, error),
             f"status {r.status}, want {allowed(step, error)}: {r.text[:160]}")
        table.ledger.check()
        if r.status != 200 and not late:
            equal(table.ledger.states, before, "after an error: states")
        if not step.startswith("unlink"):
            table.settled()

    table.cell(f"{step}, {error}", (call, path, error), prepared, request, judge)
    if step.startswith("unlink"):
        table.repair()  # which runs the reaper
        try:
            table.settled()
        except Mismatch as e:
            table.bad.append(f"{step}, {error}, after a restart: {e}")


# ---- operations

def sure(result):
    equal(result[0], ACKNOWLEDGED, f"a request while nothing fails "
          f"({result[1] and (result[1].status, result[1].text[:200])})")


@case("PUT of a new object")
def _(ring):
    with Table(ring, "put") as t:
        run_table(t, STORE_STEPS, lambda: sure(t.ledger.delete("x")),
                  lambda: t.ledger.put("x", large=True)[1])


@case("PUT over an object")
def _(ring):
    with Table(ring, "over") as t:
        run_table(t, STORE_STEPS, lambda: sure(t.ledger.put("x", large=False)),
                  lambda: t.ledger.put("x", large=True)[1])


@case("DELETE")
def _(ring):
    with Table(ring, "delete") as t:
        run_table(t, STORE_STEPS, lambda: sure(t.ledger.put("x", large=True)),
                  lambda: t.ledger.delete("x")[1],
                  late=("open a new blob", "sync its folder"))  # the folder, to sync the unlink


@case("rename of an object")
def _(ring):
    with Table(ring, "rename") as t:
        def prepare():
            sure(t.ledger.put("x", large=True))
            sure(t.ledger.delete("y"))

        run_table(t, STORE_STEPS, prepare, lambda: t.ledger.rename("x", "y")[1])


@case("PATCH of custom metadata")
def _(ring):
    with Table(ring, "patch") as t:
        values = ["0", "1"]

        def request():
            values.append(str(len(values)))
            return t.ledger.end(lambda: t.client.patch("patch", "kept1", {"n": values[-1]}))[1]

        run_table(t, STORE_STEPS, lambda: None, request)


@case("append and flush")
def _(ring):
    with Table(ring, "append") as t:
        def step(kind, data, handle=""):
            return t.client.via("PUT", Client.path("append", "x", f"&append_type={kind}" + (
                f"&append_handle={handle}" if handle else "")), data)

        def prepare():
            true(t.client.delete("append", "x").status in (200, 404), "DELETE")

        def request():
            try:
                r = step("append", b"a" * 400000)
                if r.status == 200:
                    handle = urllib.parse.quote(r.header("Ais-Append-Handle"), safe="")
                    r = step("flush", b"", handle)
            except OSError:
                return None
            got = t.client.get("append", "x")
            equal((got.status, len(got.body)) if r.status == 200 else got.status,
                  (200, 400000) if r.status == 200 else 404, f"GET after answer {r.status}")
            prepare()
            return r

        # the object is no entry of the ledger: it goes with each request
        run_table(t, WORK_STEPS, prepare, request)


@case("GET, while its blob can not be opened or read")
def _(ring):
    with Table(ring, "get") as t:
        for call, errors in (("open", ("EIO", "EMFILE")), ("read", ("EIO",))):
            for error in errors:
                t.cells += 1
                rule = t.shim.fail(call, "*/blob/??/*", error)
                r = t.client.get("get", "kept1")
                h = t.client.head("get", "kept1")
                hits = t.shim.hits(rule)
                t.shim.clear()
                if hits and r.status not in (500, 503) or h.status != 200:
                    t.bad.append(f"{call}, {error}: GET {r.status}, HEAD {h.status}")
                t.reads_go_on()


@case("destruction of a bucket: the rest goes when the cause has gone")
def _(ring):
    with Table(ring, "beside") as t:
        for step, call, path in STORE_STEPS[8:]:
            for error in ERRNOS:
                t.cells += 1
                client, bucket = t.client, f"gone{t.cells}"
                client.create_bucket(bucket)
                for i in range(5):
                    equal(client.put(bucket, f"o{i}", b"x" * 100).status, 200, "PUT")
                t.shim.fail(call, path, error)
                r = client.destroy_bucket(bucket)
                gone = client.get(bucket, "o0").status
                t.shim.clear()
                if gone != 404 and r.status == 200:
                    t.bad.append(f"{step}, {error}: destroyed, and GET is {gone}")
                if r.status != 200:
                    client.destroy_bucket(bucket)
                ring.restart("t1")
                try:
                    t.settled()
                except Mismatch as e:
                    t.bad.append(f"{step}, {error}, after a restart: {e}")


@case("errors are counted")
def _(ring):
    with Table(ring, "count") as t:
        name = "ais_target_err_put_count"
        before = ring.metric("t1", name)
        t.shim.fail("open", FOLDER, "EIO")
        t.ledger.put("x")
        t.shim.clear()
        equal(ring.metric("t1", name), before + 1, name)


@case("out of file descriptors: control answers, and all is well when there are some again")
def _(ring):
    with Table(ring, "files") as t:
        ring.open_files["t1"] = 160
        ring.restart("t1")
        node, pid = ring.node("t1"), ring.pid("t1")
        where = ring.address(node, "public"), ring.port(node, "public")
        held = [socket.create_connection(where, 5) for _ in range(200)]
        try:
            r = ask(ring.address(node, "control"), ring.port(node, "control"), "GET", "/v1/health",
                    timeout=5)
            equal(r.status, 200, "health on control")
        except OSError as e:
            t.bad.append(f"health on control while clients hold all descriptors: {e}")
        for s in held:
            s.close()
        wait_for(lambda: ring.status(node, "/v1/health") == 200, 10, "health answers again")
        t.reads_go_on()
        sure(t.ledger.put("x", large=True))
        t.settled()
        equal(ring.pid("t1"), pid, "pid")
        true(ring.alive("t1"), "alive")
        del ring.open_files["t1"]
        ring.restart("t1")


index = Cases()


@index("index pages of one disk can not be read: that disk is out, the other one serves")
def _(ring):
    client, names = Client(ring.gateway()), [f"o{i}" for i in range(40)]
    client.create_bucket("b")
    for name in names:
        equal(client.put("b", name, name.encode()).status, 200, "PUT")
    # pages of a file that ends before them raise SIGBUS, as pages of a disk that fails do
    os.truncate(os.path.join(ring.mountpaths(ring.node("t1"))[0], "meta", "data.mdb"), 0)
    for _ in range(2):
        answers = []
        for name in names:
            try:
                answers.append(client.get("b", name).status)
            except OSError as e:
                raise Mismatch(f"the daemon ended, {ring.wait_end('t1', 5)}: {e}") from e
        equal(set(answers), {200, 503}, "GETs, of both disks")
    equal(ring.status(ring.node("t1"), "/v1/health"), 200, "health")
    # a name of the lost disk may go to the other one; what is acknowledged is read
    for name in names:
        r = client.put("b", name, b"new")
        true(r.status in (200, 503), f"PUT of {name}: {r.status}")
        if r.status == 200:
            equal(client.get("b", name).body, b"new", f"GET of {name}")


def main():
    netring.isolate()
    with netring.Ring("index", targets=1, mountpaths=2) as ring:
        ring.up()
        failed = index.run(ring)
    with netring.Ring("errno", targets=1) as ring:
        ring.shim("t1")
        ring.up()
        return case.run(ring) or failed


sys.exit(main())
