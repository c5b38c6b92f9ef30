#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Real files: a tree put by `pagewire put DIR`, listed, read back and compared by hash.

With LONG=1 all of /usr/share, otherwise its largest folder of at most 15,000 files.
"""

import concurrent.futures
import hashlib
import http.client
import json
import os
import stat
import subprocess
import sys
import threading
import urllib.parse

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from harness import (HOST, LONG, PAGEWIRE, Cases, Cluster, create_bucket, equal, list_all, quote,
                     true)

case = Cases()
TREE = "/usr/share"
MOST_FILES, MOST_BYTES = 15000, 400 << 20


def walk(top):
    """Name below top -> size, of every file and every link to a file."""
    files = {}
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            try:
                status = os.stat(path)
            except OSError:
                continue  # a link to nothing
            if stat.S_ISREG(status.st_mode):
                files[os.path.relpath(path, top)] = status.st_size
    return files


def choose():
    if LONG:
        return TREE, walk(TREE)
    trees = [(top, walk(top)) for top in
             (entry.path for entry in os.scandir(TREE) if entry.is_dir(follow_symlinks=False))]
    return max((t for t in trees if len(t[1]) <= MOST_FILES and sum(t[1].values()) <= MOST_BYTES),
               key=lambda t: len(t[1]))


class State:
    def __init__(self, cluster, top, files):
        self.cluster, self.top, self.files = cluster, top, files
        self.connections = threading.local()

    def get(self, port, path):
        """A GET on this thread's connection to that port."""
        mine = self.connections.__dict__
        if port not in mine:
            mine[port] = http.client.HTTPConnection(HOST, port, timeout=60)
        mine[port].request("GET", path)
        r = mine[port].getresponse()
        return r, r.read()

    def pagewire(self, *words):
        r = subprocess.run([PAGEWIRE, "--endpoint", self.cluster.url, *words],
                           capture_output=True, check=False)
        equal(r.returncode, 0, f"pagewire {' '.join(words)}: {r.stderr[-500:]}")
        return r


@case("pagewire put DIR")
def _(s):
    create_bucket(s.cluster.port, "tree")
    s.pagewire("put", s.top, "ais://tree")


@case("every file is listed, with its size, in order")
def _(s):
    entries = list_all(s.cluster.port, "tree")
    got = {e["name"]: int(e.get("size", 0)) for e in entries}
    missing, extra = set(s.files) - set(got), set(got) - set(s.files)
    true(not missing, f"{len(missing)} missing, such as {sorted(missing)[:5]}")
    true(not extra, f"{len(extra)} too many, such as {sorted(extra)[:5]}")
    equal([n for n in got if got[n] != s.files[n]], [], "sizes")
    names = [e["name"].encode() for e in entries]
    equal(names == sorted(set(names)), True, "in the order of their bytes, once each")


@case("pagewire ls --all says the same")
def _(s):
    listed = json.loads(s.pagewire("-j", "ls", "ais://tree", "--all").stdout)
    entries = listed["entries"] if isinstance(listed, dict) else listed
    equal(len(entries), len(s.files), "entries")


@case("every file comes back equal")
def _(s):
    def differs(name):
        with open(os.path.join(s.top, name), "rb") as f:
            want = hashlib.sha256(f.read()).digest()
        r, _ = s.get(s.cluster.port, f"/v1/objects/tree/{quote(name)}?provider=ais")
        if r.status != 307:
            return f"{name}: {r.status} at the gateway"
        to = urllib.parse.urlsplit(r.headers["Location"])
        r, body = s.get(to.port, f"{to.path}?{to.query}")
        if r.status != 200 or hashlib.sha256(body).digest() != want:
            return f"{name}: {r.status}, {len(body)} bytes"
        return None

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        bad = [d for d in pool.map(differs, s.files) if d]
    equal(bad[:5], [], f"{len(bad)} differ")


@case("a folder below a prefix, and pagewire get")
def _(s):
    create_bucket(s.cluster.port, "below")
    folder = os.path.dirname(next(n for n in sorted(s.files) if "/" in n))
    top = os.path.join(s.top, folder)
    s.pagewire("put", top, "ais://below/some/prefix/")
    want = walk(top)
    equal({e["name"] for e in list_all(s.cluster.port, "below")},
          {f"some/prefix/{n}" for n in want}, "names")
    name = next(iter(want))
    out = os.path.join(s.cluster.folder, "out")
    s.pagewire("get", f"ais://below/some/prefix/{name}", out)
    with open(out, "rb") as got, open(os.path.join(top, name), "rb") as original:
        equal(got.read() == original.read(), True, name)


def main():
    top, files = choose()
    print(f"# {top}: {len(files)} files, {sum(files.values()) >> 20} MiB", flush=True)
    with Cluster("tree", 18440) as cluster:
        return case.run(State(cluster, top, files))


sys.exit(main())
