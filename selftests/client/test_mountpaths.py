#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Mountpaths at run time, watermarks, scrub: what clients and operators see of them."""

import contextlib
import ctypes
import glob
import json
import os
import re
import subprocess
import sys
import urllib.parse

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from harness import (PAGEWIRE, Cases, Cluster, Mismatch, act, ask, contains, create_bucket, equal,
                     get, list_all, put, true, via, wait_for)

case = Cases()
NAMES = [f"o{i:03d}" for i in range(60)]
OUT_OF_SPACE, LOW_SPACE, DISK_FAULT = 1 << 8, 1 << 11, 1 << 13
HEALTHY = 6


# ---- what is asked

def cli(c, *words, code=0):
    r = subprocess.run([PAGEWIRE, *words, "--endpoint", c.url], capture_output=True, text=True,
                       check=False)
    equal(r.returncode, code, f"pagewire {' '.join(words)}: {r.stdout} {r.stderr}")
    return r.stdout + r.stderr


def target(c, name):
    return next(n for n in c.nodes() if n["node"] == name)


def mountpath(c, node, number):
    return os.path.join(c.dir, node, f"mp{number}")


def reverse(c, node_id, method, sub, body=None):
    return ask(c.port, method, f"/v1/reverse/daemon{sub}", body, {"Ais-Node-Id": node_id})


def paths(c, node_id):
    return {p["path"]: p for p in reverse(c, node_id, "GET", "/mountpaths?all=true").json()}


def flags(c, node):
    port = target(c, node)["public"].split(":")[1]
    return ask(int(port), "GET", "/v1/health?cii=true").json()["flags"]


def fill(c, bucket, text):
    for name in NAMES:
        put(c.port, bucket, name, text.encode())


def locations(c, bucket):
    """Mountpath of each object, as a HEAD says."""
    where = {}
    for name in NAMES:
        r = via(c.port, "HEAD", f"/v1/objects/{bucket}/{name}?provider=ais")
        equal(r.status, 200, f"HEAD {name}")
        where[name] = re.search(r"mp\[(.*)\]$", r.header("Ais-Location")).group(1)
    return where


def check_all(c, bucket, text):
    for name in NAMES:
        r = get(c.port, bucket, name)
        equal((r.status, r.body), (200, text.encode()), f"GET {name}")
    equal(sorted(e["name"] for e in list_all(c.port, bucket)), NAMES, "listed")


def settled(c, node_id):
    wait_for(lambda: not any(p["strays"] for p in paths(c, node_id).values()), 20,
             "all objects are on their own mountpaths")


def blobs(path):
    return [f for f in glob.glob(os.path.join(path, "blob", "??", "*"))
            if not f.endswith(".meta")]


def set_config(c, **values):
    query = urllib.parse.urlencode({k.replace("__", "."): v for k, v in values.items()})
    r = ask(c.port, "PUT", f"/v1/cluster/set-config?{query}")
    equal(r.status, 200, f"set-config {query}: {r.text[:300]}")


# ---- the documents

@case("mountpaths of a node and of the cluster")
def _(c):
    t1 = target(c, "t1")["id"]
    want = {"available": [mountpath(c, "t1", 1), mountpath(c, "t1", 2)], "waiting_dd": [],
            "disabled": []}
    for r in (reverse(c, t1, "GET", "?what=mountpaths"), reverse(c, t1, "GET", "/mountpaths")):
        equal((r.status, r.json()), (200, want), "of a node")
    r = ask(c.port, "GET", "/v1/cluster?what=mountpaths")
    equal((r.status, r.json()["targets"][t1]), (200, want), "of the cluster")
    equal(len(r.json()["targets"]), 2, "targets")


@case("disk, metrics, sysinfo, node_stats, target_ips")
def _(c):
    t1 = target(c, "t1")["id"]
    disk = reverse(c, t1, "GET", "?what=disk").json()
    equal((disk["total_used"], disk["total_avail"], disk["pct_max"]), ("0", "0", 0), "totals")
    equal(sorted(disk["mountpaths"]), [mountpath(c, "t1", 1), mountpath(c, "t1", 2)], "disk")
    for path in disk["mountpaths"].values():
        true(path["used"].isdigit() and path["avail"].isdigit(), "sizes are quoted numbers")
        true(re.fullmatch(r"\d+,\d+", path["fs"]["FsID"]), "FsID")
        for name in path["disks"]:
            equal(sorted(disk["AllDiskStats"][name]), ["RBps", "Ravg", "Util", "WBps", "Wavg"],
                  f"rates of {name}")
            true(all(isinstance(v, int) for v in disk["AllDiskStats"][name].values()), "bare")
    kinds = reverse(c, t1, "GET", "?what=metrics").json()
    tracker = reverse(c, t1, "GET", "?what=node_status").json()["tracker"]
    equal(sorted(set(tracker) - set(kinds)), [], "each counter has a kind")
    true(any(k.startswith("disk.") and k.endswith(".util") for k in tracker), "disk.*.util")
    sysinfo = ask(c.port, "GET", "/v1/cluster?what=sysinfo").json()
    equal((sysinfo["proxy"], t1 in sysinfo["target"]), ({}, True), "sysinfo")
    true(int(sysinfo["target"][t1]["fs_capacity"]) > 0, "fs_capacity")
    stats = ask(c.port, "GET", "/v1/cluster?what=node_stats").json()
    equal(sorted(stats["target"][t1]), ["capacity", "snode", "tracker"], "node_stats")
    equal(ask(c.port, "GET", "/v1/cluster?what=target_ips").text, ",".join(["127.0.0.1"] * 6),
          "target_ips")


@case("wrong changes are refused")
def _(c):
    t1, mp1 = target(c, "t1")["id"], mountpath(c, "t1", 1)

    def refused(method, action, value, status):
        r = reverse(c, t1, method, "/mountpaths", {"action": action, "name": "", "value": value})
        equal(r.status, status, f"{method} {action} {value}: {r.text[:300]}")
        return r.error()

    equal(refused("POST", "disable-mp", "/nowhere", 404)["tcode"], "ErrMpathNotFound", "tcode")
    refused("PUT", "attach-mp", mp1, 409)
    refused("PUT", "attach-mp", "relative", 400)
    refused("PUT", "attach-mp", "/nowhere/at/all", 404)
    refused("PUT", "enable-mp", mp1, 400)  # another verb has this action
    refused("POST", "enable-mp", None, 400)
    refused("POST", "enable-mp", {"path": mp1}, 400)
    r = ask(int(target(c, "t1")["public"].split(":")[1]), "POST", "/v1/daemon/mountpaths",
            act("disable-mp", "", mp1))
    equal(r.status, 403, "unsigned, on the public network")
    gateway = target(c, "g1")["id"]
    equal(reverse(c, gateway, "GET", "/mountpaths").status, 400, "of a gateway")
    contains(cli(c, "node", "mountpath", t1, "frobnicate", "/x", code=2), "expected ls")


# ---- out of service and back

@case("disabled: its objects wait, others go on, new ones go elsewhere; enabled: all are served")
def _(c):
    create_bucket(c.port, "dis")
    fill(c, "dis", "one")
    where, t1, mp1 = locations(c, "dis"), target(c, "t1")["id"], mountpath(c, "t1", 1)
    lost = [n for n in NAMES if where[n] == mp1]
    true(lost and len(lost) < len(NAMES), "some are there")
    cli(c, "node", "mountpath", t1, "disable", mp1)
    r = ask(c.port, "GET", "/v1/cluster?what=mountpaths").json()["targets"][t1]
    equal(r, {"available": [mountpath(c, "t1", 2)], "waiting_dd": [], "disabled": [mp1]}, "lists")
    for name in NAMES:
        r = get(c.port, "dis", name)
        equal(r.status, 503 if name in lost else 200, f"GET {name}: {r.text[:200]}")
        if name in lost:
            contains(r.error()["message"], "out of service")
            equal(r.header("Retry-After"), "10", "Retry-After")
            r = via(c.port, "DELETE", f"/v1/objects/dis/{name}?provider=ais")
            equal(r.status, 503, f"DELETE {name}")
    true(ask(c.port, "GET", "/v1/buckets/dis?provider=ais",
             act("list", "", {"prefix": "", "flags": "0"})).status >= 500, "no list with holes")
    put(c.port, "dis", lost[0], b"two")
    equal(get(c.port, "dis", lost[0]).body, b"two", "put elsewhere")
    c.verb("kill", "t1")
    c.verb("start", "t1")
    equal(paths(c, t1)[mp1]["state"], "disabled", "after a restart")
    equal(get(c.port, "dis", lost[0]).body, b"two", "after a restart")
    cli(c, "node", "mountpath", t1, "enable", mp1)
    equal(get(c.port, "dis", lost[0]).body, b"two", "the newer one")
    settled(c, t1)
    put(c.port, "dis", lost[0], b"one")
    check_all(c, "dis", "one")
    equal(locations(c, "dis"), where, "all at home")


@case("lost at run time: alerts, reads and writes go on; back again: all are served")
def _(c):
    create_bucket(c.port, "lost")
    fill(c, "lost", "one")
    where, t1, mp2 = locations(c, "lost"), target(c, "t1")["id"], mountpath(c, "t1", 2)
    equal(flags(c, "t1"), HEALTHY, "flags before")
    os.rename(mp2, mp2 + ".gone")
    wait_for(lambda: paths(c, t1)[mp2]["state"] == "failed", 10, "it is noticed")
    contains(paths(c, t1)[mp2]["reason"], "No such file")
    equal(flags(c, "t1"), HEALTHY | DISK_FAULT, "flags")
    contains(cli(c, "node", "show"), f"{t1}: mountpath {mp2} has failed")
    status = reverse(c, t1, "GET", "?what=node_status").json()
    contains(status["capacity"]["cs_err"], mp2)
    metrics = ask(int(target(c, "t1")["public"].split(":")[1]), "GET", "/metrics").text
    contains(metrics, f'pagewire_mountpath_up{{node_id="{t1}",mountpath="{mp2}"}} 0')
    for name in NAMES:
        equal(get(c.port, "lost", name).status, 503 if where[name] == mp2 else 200, name)
    fill(c, "lost", "two")
    for name in NAMES:
        equal(get(c.port, "lost", name).body, b"two", name)
    contains(cli(c, "node", "mountpath", t1, "enable", mp2, code=1), "No such file")
    os.rename(mp2 + ".gone", mp2)
    cli(c, "node", "mountpath", t1, "enable", mp2)
    check_all(c, "lost", "two")
    settled(c, t1)
    check_all(c, "lost", "two")
    equal(flags(c, "t1"), HEALTHY, "flags afterwards")
    cli(c, "node", "mountpath", t1, "check", mp2)


@case("attached: names move; kept over a restart; given up when disabled and detached")
def _(c):
    create_bucket(c.port, "att")
    fill(c, "att", "one")
    t1, mp9 = target(c, "t1")["id"], mountpath(c, "t1", 9)
    os.mkdir(mp9)
    cli(c, "node", "mountpath", t1, "attach", mp9)
    check_all(c, "att", "one")
    settled(c, t1)
    where = locations(c, "att")
    true(mp9 in where.values(), "names have moved")
    contains(cli(c, "node", "mountpath", t1, "detach", mp9, code=1), "holds")
    c.verb("stop", "t1")
    c.verb("start", "t1")
    check_all(c, "att", "one")
    equal(paths(c, t1)[mp9]["state"], "available", "after a restart")
    cli(c, "node", "mountpath", t1, "disable", mp9)
    cli(c, "node", "mountpath", t1, "detach", mp9)
    for name in NAMES:
        equal(get(c.port, "att", name).status, 404 if where[name] == mp9 else 200, name)
    cli(c, "node", "mountpath", t1, "attach", mp9)
    settled(c, t1)
    check_all(c, "att", "one")


# ---- room

@case("over the watermark: PUT 507, everything else goes on; below it: PUT 200")
def _(c):
    create_bucket(c.port, "room")
    put(c.port, "room", "old", b"old")
    set_config(c, space__out_of_space=1, space__highwm=1)
    wait_for(lambda: flags(c, "t1") & OUT_OF_SPACE, 10, "the alert")
    true(flags(c, "t1") & LOW_SPACE, "low too")
    r = via(c.port, "PUT", "/v1/objects/room/new?provider=ais", b"new")
    equal(r.status, 507, f"PUT: {r.text[:200]}")
    contains(r.error()["message"], "out of space")
    equal(get(c.port, "room", "old").body, b"old", "GET")
    contains(cli(c, "node", "show"), "is out of space")
    equal(via(c.port, "DELETE", "/v1/objects/room/old?provider=ais").status, 200, "DELETE")
    set_config(c, space__out_of_space=95, space__highwm=90)
    wait_for(lambda: flags(c, "t1") == HEALTHY, 10, "the alert has gone")
    put(c.port, "room", "new", b"new")


@contextlib.contextmanager
def tmpfs(path, size):
    libc = ctypes.CDLL(None, use_errno=True)
    os.mkdir(path)
    if libc.mount(b"tmpfs", path.encode(), b"tmpfs", 0, f"size={size}".encode()):
        raise Mismatch(f"mount: {os.strerror(ctypes.get_errno())} (root is needed)")
    try:
        yield
    finally:
        libc.umount2(path.encode(), 2)


@case("a full disk: refused before it is full; recovered when objects have gone; unmounted")
def _(c):
    t2, small = target(c, "t2")["id"], mountpath(c, "t2", 8)
    create_bucket(c.port, "small")
    with tmpfs(small, "32m"):
        cli(c, "node", "mountpath", t2, "attach", small)
        settled(c, t2)
        kept, refused = {}, []
        for i in range(400):
            data = os.urandom(1 << 20)
            r = via(c.port, "PUT", f"/v1/objects/small/big{i:03d}?provider=ais", data)
            if r.status == 200:
                kept[f"big{i:03d}"] = data
            else:
                equal(r.status, 507, f"PUT: {r.text[:200]}")
                refused.append(i)
                if len(refused) == 5:
                    break
        equal(len(refused), 5, "refused")
        st = os.statvfs(small)
        true(st.f_bavail * st.f_frsize > 1 << 20, "there is still room for the index")
        true(flags(c, "t2") & LOW_SPACE, "an alert")
        for name, data in kept.items():
            r = get(c.port, "small", name)
            true(r.body == data, f"GET {name}: {r.status}")
        equal({e["name"] for e in list_all(c.port, "small")}, set(kept), "listed")
        for name in kept:
            equal(via(c.port, "DELETE", f"/v1/objects/small/{name}?provider=ais").status, 200, name)
        for i in refused:
            wait_for(lambda i=i: via(c.port, "PUT", f"/v1/objects/small/big{i:03d}?provider=ais",
                                     b"x" * (1 << 20)).status == 200, 10, "PUT again")
        cli(c, "node", "mountpath", t2, "disable", small)
        cli(c, "node", "mountpath", t2, "detach", small)
    equal(paths(c, t2)[small]["state"], "detached", "state")


# ---- corrupt objects

def spoil(c, bucket, name):
    """Change a byte of the object's blob. The one of its size on its mountpath is the only one."""
    where = locations_of(c, bucket, name)
    size = int(via(c.port, "HEAD", f"/v1/objects/{bucket}/{name}?provider=ais")
               .header("Content-Length"))
    found = [b for b in blobs(where) if os.path.getsize(b) == size]
    equal(len(found), 1, f"blobs of {size} bytes")
    with open(found[0], "r+b") as f:
        byte = f.read(1)[0] ^ 1
        f.seek(0)
        f.write(bytes([byte]))
    return where


def locations_of(c, bucket, name):
    r = via(c.port, "HEAD", f"/v1/objects/{bucket}/{name}?provider=ais")
    return re.search(r"mp\[(.*)\]$", r.header("Ais-Location")).group(1)


def node_of(c, where):
    return next(n for n in c.nodes() if f"/{n['node']}/" in where)


def scrub(c, node_id):
    cli(c, "node", "scrub", node_id)
    return wait_for(lambda: (s := json.loads(cli(c, "-j", "node", "scrub", node_id, "--status")))
                    and not s["running"] and s, 60, "the end of the scrub")


def corrupt_twice(c, bucket, name):
    r = get(c.port, bucket, name)
    equal((r.status, r.error()["tcode"]), (500, "ErrObjCorrupt"), "first GET")
    contains(r.error()["message"], "quarantine")
    for _ in range(2):
        r = get(c.port, bucket, name)
        equal((r.status, r.error()["tcode"]), (404, "ErrObjQuarantined"), "next GET")


@case("scrub: a corrupt object is found, told once, listed, never served; a new one is")
def _(c):
    create_bucket(c.port, "scrub")
    for i in range(20):
        put(c.port, "scrub", f"s{i}", bytes([i]) * (70001 + i))
    node = node_of(c, spoil(c, "scrub", "s7"))
    got = scrub(c, node["id"])
    equal((got["corrupt"], got["missing"]), ("1", "0"), "found")
    equal([(q["bucket"], q["name"], q["size"]) for q in got["quarantine"]],
          [("ais://scrub", "s7", "70008")], "quarantine")
    true(flags(c, node["node"]) & DISK_FAULT, "an alert")
    corrupt_twice(c, "scrub", "s7")
    equal(len(list_all(c.port, "scrub")), 19, "listed")
    put(c.port, "scrub", "s7", b"new")
    equal(get(c.port, "scrub", "s7").body, b"new", "a new one")
    contains(cli(c, "node", "scrub", node["id"], "--status"), "in quarantine")
    cli(c, "node", "scrub", node["id"], "--purge")
    equal(flags(c, node["node"]), HEALTHY, "the alert has gone")
    equal(scrub(c, node["id"])["corrupt"], "0", "nothing more")


@case("validate_warm_get: a corrupt object is found by the GET, before a byte of it is sent")
def _(c):
    create_bucket(c.port, "warm")
    put(c.port, "warm", "w", b"w" * 81234)
    spoil(c, "warm", "w")
    equal(len(get(c.port, "warm", "w").body), 81234, "not asked for")
    r = ask(c.port, "PATCH", "/v1/buckets/warm?provider=ais",
            act("set-bprops", "", {"checksum": {"validate_warm_get": True}}))
    equal(r.status, 200, r.text[:300])
    node = node_of(c, locations_of(c, "warm", "w"))
    corrupt_twice(c, "warm", "w")
    put(c.port, "warm", "w", b"new")
    equal(get(c.port, "warm", "w").body, b"new", "a new one")
    r = get(c.port, "warm", "w", {"Range": "bytes=1-2"})
    equal((r.status, r.body), (206, b"ew"), "a range")
    cli(c, "node", "scrub", node["id"], "--purge")


def main():
    with Cluster("mountpaths", 18520, "--targets", "2", "--mountpaths", "2") as cluster:
        return case.run(cluster)


sys.exit(main())
