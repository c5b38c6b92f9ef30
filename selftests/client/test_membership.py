#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Nodes come and go: two gateways and three targets, each stopped, killed, started, silenced."""

import concurrent.futures
import contextlib
import http.client
import json
import os
import select
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from harness import (ROOT, Cases, Cluster, Mismatch, act, ask, contains, create_bucket, equal, get,
                     list_all, put, true, wait_for)
from rawhttp import Conn, Envelope, key_of, owner, path_of

case = Cases()
DAEMON = os.environ.get("PAGEWIRED") or os.path.join(ROOT, "build", "pagewired")
WHOLE_S = 10  # from the start of a node to a cluster that serves through all of them
SILENT_S = 10  # keepalive interval x factor, and some


def nodes(c):
    return {n["node"]: n for n in c.nodes()}


def public(c, node):
    return int(nodes(c)[node]["public"].split(":")[1])


def runs(pid):
    """Is it alive? A zombie that nobody waits for is not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def gateways(c):
    return [int(n["public"].split(":")[1]) for n in c.nodes() if n["role"] == "gateway"]


def smap(port):
    return ask(port, "GET", "/v1/daemon?what=smap").json()


def record(m, node_id):
    return m["pmap"].get(node_id) or m["tmap"].get(node_id)


def answer(port, method, target, body=None):
    """Status; 0 when nobody answers."""
    try:
        return ask(port, method, target, body, timeout=10).status
    except (OSError, http.client.HTTPException):
        return 0


def names_by_target(c, bucket, count=3):
    """Some names of each target."""
    targets, out = list(c.targets()), {t: [] for t in c.targets()}
    for i in range(1000):
        t = owner(targets, bucket, f"o{i}")
        if len(out[t]) < count:
            out[t].append(f"o{i}")
    return out


def served(port, bucket, name):
    """PUT and GET through this gateway, as a client that is told to try again later would see."""
    try:
        put(port, bucket, name, b"now")
        return get(port, bucket, name).body == b"now"
    except (Mismatch, OSError, http.client.HTTPException):
        return False


def whole(c, bucket="whole"):
    """health?prr=true, and PUT and GET on each target through each gateway."""
    if answer(c.port, "GET", "/v1/health?prr=true") != 200:
        return False
    return all(served(port, bucket, names[0])
               for names in names_by_target(c, bucket, 1).values() for port in gateways(c))


def start(c, node):
    """Start it; the cluster is whole within the limit. Return how long it took."""
    began = time.monotonic()
    c.verb("start", node)
    wait_for(lambda: whole(c), WHOLE_S - (time.monotonic() - began), f"whole after {node} started")
    took = time.monotonic() - began
    print(f"#   {node}: whole after {took:.1f} s", flush=True)
    return took


@case("both gateways redirect, each in its own name; their maps are one")
def _(c):
    create_bucket(c.port, "whole")
    true(whole(c), "whole")
    maps = [smap(port) for port in [*gateways(c), *c.targets().values()]]
    equal([m["version"] for m in maps], [maps[0]["version"]] * 5, "versions")
    signers = []
    for port in gateways(c):
        e = Envelope(ask(port, "GET", path_of("whole", "o")).header("Location"))
        signers.append(e.get("pid"))
        true(e.verifies(key_of(maps[0]["pmap"][e.get("pid")]), "GET"), "verifies")
    equal(sorted(signers), sorted(maps[0]["pmap"]), "signers")
    equal(maps[0]["proxy_si"]["daemon_id"], nodes(c)["g1"]["id"], "the first is primary")


@case("changes through the other gateway are the primary's, and seen at once everywhere")
def _(c):
    g2 = public(c, "g2")
    create_bucket(g2, "via-g2")
    for port in gateways(c):
        put(port, "via-g2", f"o{port}", b"x")
        equal(len(list_all(port, "via-g2")), 1 + gateways(c).index(port), "list")
    r = ask(g2, "POST", "/v1/buckets/via-g2?provider=ais", act("create-bck"))
    equal((r.status, r.error()["tcode"]), (409, "ErrBucketAlreadyExists"), "error comes through")
    r = ask(g2, "PATCH", "/v1/buckets/via-g2?provider=ais",
            act("set-bprops", "", {"checksum": {"type": "md5"}}))
    equal(r.status, 200, r.text)
    equal(put(c.port, "via-g2", "md5", b"x").header("Ais-Checksum-Type"), "md5", "at the targets")
    r = ask(g2, "PUT", "/v1/cluster/set-config?checksum.type=sha256")
    equal(r.status, 200, r.text)
    for port in gateways(c):
        config = ask(port, "GET", "/v1/cluster?what=cluster_config").json()
        equal(config["checksum"]["type"], "sha256", "config")
    equal(ask(c.port, "PUT", "/v1/cluster/set-config?checksum.type=xxhash2").status, 200, "back")
    equal(ask(g2, "DELETE", "/v1/buckets/via-g2?provider=ais", act("destroy-bck")).status, 200,
          "destroy")
    for port in gateways(c):
        equal(answer(port, "GET", path_of("via-g2", "md5")), 404, "gone")
    equal(ask(g2, "GET", "/v1/health?prr=true").status, 200, "prr is forwarded")


def restart(c, node, verb):
    """End a node and start it: the map's version grows, its key changes, nobody else's does."""
    node_id, before = nodes(c)[node]["id"], smap(c.port)
    c.verb(verb, node)
    start(c, node)
    after = smap(c.port)
    true(int(after["version"]) > int(before["version"]), "the version grew")
    equal(after["uuid"], before["uuid"], "uuid")
    equal(sorted([*after["pmap"], *after["tmap"]]), sorted([*before["pmap"], *before["tmap"]]),
          "members")
    for i in [*after["pmap"], *after["tmap"]]:
        changed = key_of(record(after, i)) != key_of(record(before, i))
        equal(changed, i == node_id, f"key of {i} changed")
    equal(nodes(c)[node]["id"], node_id, "its ID stays")


@case("a target is stopped, and killed: whole again, objects kept, its key changes")
def _(c):
    create_bucket(c.port, "kept")
    for names in names_by_target(c, "kept").values():
        for name in names:
            put(c.port, "kept", name, name.encode())
    for node, verb in (("t1", "stop"), ("t2", "kill")):
        restart(c, node, verb)
        for names in names_by_target(c, "kept").values():
            for name in names:
                equal(get(c.port, "kept", name).body, name.encode(), name)
    equal(len(list_all(c.port, "kept")), 9, "list")


@case("the second gateway is stopped, and killed: its old redirects end")
def _(c):
    for verb in ("stop", "kill"):
        e = Envelope(ask(public(c, "g2"), "GET", path_of("whole", "o")).header("Location"))
        kept = names_by_target(c, "kept", 1).popitem()[1][0]
        of_g1 = Envelope(ask(c.port, "GET", path_of("kept", kept)).header("Location"))
        true(answer(e.port, "GET", e.target()) in (200, 404), "before")
        restart(c, "g2", verb)
        equal(answer(e.port, "GET", e.target()), 401, f"g2's old redirect after {verb}")
        equal(answer(of_g1.port, "GET", of_g1.target()), 200, "g1's goes on")


@case("the primary is stopped, and killed: its old redirects end, metadata is kept")
def _(c):
    for verb in ("stop", "kill"):
        e = Envelope(ask(c.port, "GET", path_of("whole", "o")).header("Location"))
        buckets = ask(c.port, "GET", "/v1/buckets?provider=ais", act("list")).json()
        restart(c, "g1", verb)
        equal(answer(e.port, "GET", e.target()), 401, f"g1's old redirect after {verb}")
        equal(ask(c.port, "GET", "/v1/buckets?provider=ais", act("list")).json(), buckets,
              "buckets")


@case("while the primary is away: data through the other gateway, changes are 503")
def _(c):
    g2 = public(c, "g2")
    c.verb("kill", "g1")
    for names in names_by_target(c, "kept").values():
        equal(get(g2, "kept", names[0]).status, 200, "GET")
        put(g2, "kept", names[0], names[0].encode())
    for method, path, body in (("POST", "/v1/buckets/new?provider=ais", act("create-bck")),
                               ("DELETE", "/v1/buckets/kept?provider=ais", act("destroy-bck")),
                               ("PUT", "/v1/cluster/set-config?checksum.type=md5", None),
                               ("PATCH", "/v1/buckets/kept?provider=ais",
                                act("set-bprops", "", {"checksum": {"type": "md5"}}))):
        equal(answer(g2, method, path, body), 503, f"{method} {path}")
    equal(answer(g2, "GET", "/v1/health"), 200, "health of the other")
    equal(answer(g2, "GET", "/v1/health?prr=true"), 503, "prr")
    start(c, "g1")
    equal(ask(c.port, "HEAD", "/v1/buckets/new?provider=ais").status, 404, "nothing was made")
    equal(len(list_all(g2, "kept")), 9, "list")


@case("a gateway that starts while the primary is away does not redirect, then does")
def _(c):
    c.verb("kill", "g1")
    c.verb("kill", "g2")
    c.verb("start", "g2")
    r = ask(public(c, "g2"), "GET", path_of("kept", "o0"))
    equal(r.status, 503, "targets do not have its key")
    true(r.header("Retry-After"), "Retry-After")
    start(c, "g1")
    true(whole(c), "both redirect")


@case("what was acknowledged survives a kill -9 of the primary at once")
def _(c):
    versions = []
    for i in range(3):
        create_bucket(c.port, f"acked{i}")
        os.kill(nodes(c)["g1"]["pid"], signal.SIGKILL)
        c.verb("kill", "g1")  # waits for its end
        start(c, "g1")
        equal(ask(c.port, "HEAD", f"/v1/buckets/acked{i}?provider=ais").status, 200, f"acked{i}")
        put(c.port, f"acked{i}", "o", b"x")
        versions.append(int(ask(c.port, "GET", "/v1/daemon?what=bmd").json()["version"]))
    equal(versions, sorted(set(versions)), "versions of the bucket metadata")


@case("one bucket created by many at once through both gateways: one has made it")
def _(c):
    for i in range(5):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            said = list(pool.map(lambda n, i=i: answer(gateways(c)[n % 2], "POST",
                                                       f"/v1/buckets/race{i}?provider=ais",
                                                       act("create-bck")), range(8)))
        equal(sorted(said), [200] + [409] * 7, "answers")
        put(c.port, f"race{i}", "o", b"x")


def damaged(c, file):
    """The primary comes up with this metadata file damaged. Return: did it?"""
    path = os.path.join(c.dir, "g1", "state", "meta", file)
    c.verb("stop", "g1")
    with open(path, "rb") as f:
        good = f.read()
    with open(path, "wb") as f:
        f.write(good[:len(good) // 2])
    try:
        c.verb("start", "g1")
        return True
    except Mismatch as e:  # to refuse is right too, if it says why
        contains(str(e), file, "why it does not start")
    with open(path, "wb") as f:
        f.write(good)
    c.verb("start", "g1")
    return False


@case("the primary's newest metadata is damaged on disk: no object is lost by that")
def _(c):
    create_bucket(c.port, "newest")
    names = [n for mine in names_by_target(c, "newest").values() for n in mine]
    for n in names:
        put(c.port, "newest", n, n.encode())
    for file in ("bmd.json", "smap.json", "conf.json"):
        print(f"#   {file} damaged: {'started' if damaged(c, file) else 'refused'}", flush=True)
        for i in range(3):  # what the others hold must not be overtaken
            create_bucket(c.port, f"after-{file.split('.', maxsplit=1)[0]}{i}")
        wait_for(lambda: whole(c), WHOLE_S, "whole")
        for n in names:
            equal(get(c.port, "newest", n).body, n.encode(), f"{n} after {file} was damaged")


@case("the same while no target can be asked")
def _(c):
    names = [n for mine in names_by_target(c, "newest").values() for n in mine]
    create_bucket(c.port, "last")  # only the file that is damaged, and the targets, know it
    for n in names:
        put(c.port, "last", n, n.encode())
    away = ("g2", "t1", "t2", "t3")
    for node in away:
        c.verb("stop", node)
    if damaged(c, "bmd.json"):
        for i in range(3):  # refused or not
            answer(c.port, "POST", f"/v1/buckets/alone{i}?provider=ais", act("create-bck"))
    for node in away:
        c.verb("start", node)
    wait_for(lambda: whole(c), WHOLE_S, "whole")
    for n in names:
        equal(get(c.port, "last", n).body, n.encode(), n)


@case("a target that is stopped finishes what it sends; told twice, it ends at once")
def _(c):
    data = bytes(range(256)) * (1 << 18)
    for times in (1, 2):
        put(c.port, "kept", "big", data)
        e = Envelope(ask(c.port, "GET", path_of("kept", "big")).header("Location"))
        node = next(n for n in c.nodes() if n["public"].endswith(f":{e.port}"))
        with Conn(e.port, rcvbuf=65536) as conn:
            conn.request("GET", e.target())
            size = int(conn.head().header("Content-Length"))
            got = conn.take(1 << 20)
            os.kill(node["pid"], signal.SIGTERM)
            wait_for(lambda port=e.port: not answer(port, "GET", "/v1/health"), 5, "no new clients")
            if times == 1:
                got += conn.take(size - len(got))
                true(got == data, "the whole body")
            else:
                began = time.monotonic()
                os.kill(node["pid"], signal.SIGTERM)
                wait_for(lambda pid=node["pid"]: not runs(pid), 3, "its end")
                print(f"#   ended {time.monotonic() - began:.1f} s after the second", flush=True)
        wait_for(lambda pid=node["pid"]: not runs(pid), 5, "its end")
        c.verb("stop", node["node"])
        start(c, node["node"])
    e = Envelope(ask(c.port, "DELETE", path_of("kept", "big")).header("Location"))
    equal(answer(e.port, "DELETE", e.target()), 200, "DELETE")


# ---- silent targets

def wait_silent(c, names, gone):
    def told():
        return all(answer(port, "GET", path_of("kept", names[gone][0])) == 503
                   for port in gateways(c))
    wait_for(told, SILENT_S, "503 for the silent target's objects at both gateways")


def check_silent(c, names, gone):
    for port in gateways(c):
        for method in ("GET", "HEAD", "PUT", "DELETE"):
            r = ask(port, method, path_of("kept", names[gone][1]))
            equal((r.status, bool(r.header("Retry-After"))), (503, True), f"{method} of its object")
        for t, mine in names.items():
            if t != gone:
                equal(get(port, "kept", mine[0]).body, mine[0].encode(), "others are served")
        true(gone in smap(port)["tmap"], "it stays in the map")
    create_bucket(c.port, "meanwhile")
    r = ask(c.port, "DELETE", "/v1/buckets/meanwhile?provider=ais", act("destroy-bck"))
    equal(r.status, 200, "changes go on")


def back(c, names, what):
    def all_there():
        return all(answer(port, "GET", path_of("kept", n)) == 307
                   for port in gateways(c) for mine in names.values() for n in mine)
    wait_for(all_there, WHOLE_S, f"all redirected again after {what}")
    for mine in names.values():
        for n in mine:
            equal(get(c.port, "kept", n).body, n.encode(), n)


@case("a target that is gone: its objects are 503 with Retry-After, others are served")
def _(c):
    names = names_by_target(c, "kept")
    c.verb("kill", "t3")
    gone = nodes(c)["t3"]["id"]
    wait_silent(c, names, gone)
    check_silent(c, names, gone)
    start(c, "t3")
    back(c, names, "start")


@case("a target that hangs: the same, and it is back when it goes on")
def _(c):
    names, t2 = names_by_target(c, "kept"), nodes(c)["t2"]
    os.kill(t2["pid"], signal.SIGSTOP)
    try:
        wait_silent(c, names, t2["id"])
        check_silent(c, names, t2["id"])
    finally:
        os.kill(t2["pid"], signal.SIGCONT)
    back(c, names, "SIGCONT")
    true(whole(c), "whole")


@case("a bucket destroyed while a target is down: its objects are gone when it is back")
def _(c):
    create_bucket(c.port, "doomed")
    names = names_by_target(c, "doomed")
    for mine in names.values():
        for n in mine:
            put(c.port, "doomed", n, b"old")
    gone = nodes(c)["t1"]["id"]
    c.verb("kill", "t1")
    for _ in range(2):
        r = ask(c.port, "DELETE", "/v1/buckets/doomed?provider=ais", act("destroy-bck"))
        equal(r.status, 200, "destroy")
        create_bucket(c.port, "doomed")
    start(c, "t1")
    equal(list_all(c.port, "doomed"), [], "list of the new bucket of that name")
    for mine in names.values():
        for n in mine:
            equal(get(c.port, "doomed", n).status, 404, f"{n} of the old bucket")
    r = put(c.port, "doomed", names[gone][0], b"new")
    equal(r.header("Ais-Version"), "1", "first version")
    equal([e["name"] for e in list_all(c.port, "doomed")], names[gone][:1], "listed")


# ---- who may join, who may leave

def run_target(c, node_id, change):
    """A daemon of our own that tries to join: what it says within a time, and whether it could."""
    with open(os.path.join(c.dir, "t1", "config.json"), encoding="utf-8") as f:
        config = json.load(f)
    folder = os.path.join(c.folder, node_id)
    os.makedirs(os.path.join(folder, "mp"))
    os.makedirs(os.path.join(folder, "state"))
    config.update(node_id=node_id, state_dir=os.path.join(folder, "state"),
                  fspaths={os.path.join(folder, "mp"): ""})
    for i, key in enumerate(("port", "port_intra_control", "port_intra_data")):
        config["host_net"][key] = str(18940 + i)
    change(config, folder)
    file = os.path.join(folder, "config.json")
    with open(file, "w", encoding="utf-8") as f:
        json.dump(config, f)
    child = subprocess.Popen([DAEMON, "--config", file], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        said, until = b"", time.monotonic() + 15
        while b"cluster.join " not in said and b"cluster.joined" not in said:
            left = until - time.monotonic()
            true(left > 0 and select.select([child.stderr], [], [], left)[0], f"silent: {said!r}")
            piece = os.read(child.stderr.fileno(), 65536)
            if not piece:
                break
            said += piece
        in_map = node_id in smap(c.port)["tmap"]
    finally:
        child.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(20)
        child.kill()
        child.wait()
        child.stderr.close()
    return said.decode(errors="replace"), in_map


@case("a node with another join secret is not admitted")
def _(c):
    def other_secret(config, folder):
        path = os.path.join(folder, "join.secret")
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="ascii") as f:
            f.write("not the secret of this cluster\n")
        config["auth"]["intra_cluster"]["node_join_secret_path"] = path
    before = smap(c.port)
    said, in_map = run_target(c, "tStranger1", other_secret)
    equal(in_map, False, "in the map")
    contains(said, "secret", "the log says why")
    equal(smap(c.port), before, "the map is as it was")


@case("a target cannot join while a bucket holds objects")
def _(c):
    before = smap(c.port)
    said, in_map = run_target(c, "tLater001", lambda *_: None)
    equal(in_map, False, "in the map")
    contains(said, "cannot join while buckets hold objects", "the log says why")
    equal(smap(c.port), before, "the map is as it was")


def decommission(c, node_id, **more):
    return ask(c.port, "PUT", "/v1/cluster", act("decommission-node", "", {"sid": node_id, **more}))


@case("a target cannot leave while a bucket holds objects; skip_rebalance lets it")
def _(c):
    before, t3 = smap(c.port), nodes(c)["t3"]["id"]
    for action in ("decommission-node", "start-maintenance"):
        r = ask(c.port, "PUT", "/v1/cluster", act(action, "", {"sid": t3}))
        equal(r.status, 501, f"{action}: {r.text}")
        true("object" in r.error()["message"], f"{action}: the reason is said: {r.text}")
    equal(smap(c.port), before, "the map is as it was")
    true(whole(c), "it serves")
    try:
        c.verb("remove", "t3")
        raise AssertionError("local-cluster remove took a target with objects")
    except Mismatch as e:
        contains(str(e), "object", "local-cluster says why")
    equal(decommission(c, nodes(c)["g1"]["id"]).status, 400, "the primary")
    equal(decommission(c, "tNobody01").status, 404, "unknown")
    c.verb("remove", "t3", "--skip-rebalance")
    true(t3 not in smap(c.port)["tmap"], "out of the map")
    equal(len(c.nodes()), 4, "nodes")
    wait_for(lambda: whole(c), WHOLE_S, "whole without it")


@case("without objects targets come and go; gateways at any time")
def _(c):
    c.verb("remove", "g2")
    equal(len(smap(c.port)["pmap"]), 1, "gateways")
    c.verb("add", "gateway")
    wait_for(lambda: whole(c), WHOLE_S, "whole with a new gateway")
    for b in ask(c.port, "GET", "/v1/buckets?provider=ais", act("list")).json():
        equal(ask(c.port, "DELETE", f"/v1/buckets/{b['name']}?provider=ais",
                  act("destroy-bck")).status, 200, f"destroy {b['name']}")
    c.verb("add", "target")
    equal(len(smap(c.port)["tmap"]), 3, "targets")
    c.verb("remove", "t1")
    equal(len(smap(c.port)["tmap"]), 2, "targets")
    create_bucket(c.port, "whole")
    wait_for(lambda: whole(c), WHOLE_S, "whole with a new target")


@case("the whole cluster stops and starts: the same members, buckets and objects")
def _(c):
    for names in names_by_target(c, "whole").values():
        put(c.port, "whole", names[0], names[0].encode())
    before = smap(c.port)
    c.verb("down")
    began = time.monotonic()
    c.verb("up")
    for names in names_by_target(c, "whole").values():
        for port in gateways(c):
            equal(get(port, "whole", names[0]).body, names[0].encode(), names[0])
    print(f"#   up and serving after {time.monotonic() - began:.1f} s", flush=True)
    after = smap(c.port)
    equal((after["uuid"], sorted(after["tmap"]), sorted(after["pmap"])),
          (before["uuid"], sorted(before["tmap"]), sorted(before["pmap"])), "the same cluster")
    true(int(after["version"]) > int(before["version"]), "the version grew")


def main():
    with Cluster("membership", 18620, "--gateways", "2") as cluster:
        return case.run(cluster)


sys.exit(main())
