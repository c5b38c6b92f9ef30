#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The perimeter: who may ask what on which network, and what a daemon refuses to start with."""

import base64
import contextlib
import hashlib
import hmac
import json
import os
import subprocess
import sys
import time
import urllib.parse

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from harness import (HOST, ROOT, Cases, Cluster, act, ask, contains, create_bucket, equal, put,
                     true)
from rawhttp import (PLACEMENT_SEED, Conn, Envelope, Key, base36, b64url_text, key_of, length,
                     owner, path_of, payload, self_test, xxh64)

case = Cases()
NETS = ("public", "control", "data")
DAEMON = os.environ.get("PAGEWIRED") or os.path.join(ROOT, "build", "pagewired")
OWN = Key(b"a key that is in no map".ljust(32))
READS = ("GET", "HEAD")
WRITES = ("PUT", "DELETE", "PATCH", "POST")


def smap(port):
    return ask(port, "GET", "/v1/daemon?what=smap").json()


def ports_of(c, node_id):
    n = next(n for n in c.nodes() if n["id"] == node_id)
    return {net: int(n[net].split(":")[1]) for net in NETS}


def envelope(c, method, name, framing=(), bucket="wall"):
    with Conn(c.port) as conn:
        r = conn.ask(method, path_of(bucket, name), framing)
    equal(r.status, 307, f"{method} {name!r} at the gateway: {r.text[:200]}")
    return Envelope(r.header("Location"))


def raw(port, method, target, headers=(), body=b""):
    with Conn(port) as c:
        return c.ask(method, target, list(headers) + (length(len(body)) if body else []), body)


def home(c, name="o", bucket="wall"):
    return ports_of(c, owner(list(c.targets()), bucket, name))


def own_signature(e, method, signer, key=OWN):
    text = payload(method, urllib.parse.unquote_to_bytes(e.path), signer,
                   int(e.get("vpams"), 36), 0, int(e.get("x"), 36))
    return b64url_text(key.sign(text))


def flipped(text):
    return ("B" if text[0] == "A" else "A") + text[1:]


# ---- redirects

@case("the tests' own Ed25519 agrees with the published vector")
def _(_c):
    self_test()


@case("a redirect verifies with the gateway's key of the map, over what is documented")
def _(c):
    m = smap(c.port)
    gateway = m["proxy_si"]
    seen = set()
    for method, name, size in (("GET", "o", 0), ("HEAD", "o", 0), ("PUT", "n", 12345),
                               ("PUT", "n", 0), ("DELETE", "o", 0), ("PATCH", "o", 7),
                               ("GET", "a b+c%2F?#é\n", 0)):
        e = envelope(c, method, name, length(size) if method in ("PUT", "PATCH") else ())
        what = f"{method} {name!r}"
        equal(e.get("pid"), gateway["daemon_id"], f"{what}: signer")
        equal(int(e.get("vpams"), 36), int(m["version"]), f"{what}: version of the map")
        true(abs(int(e.get("utm"), 36) / 1e9 - time.time()) < 60, f"{what}: time")
        true(e.verifies(key_of(gateway), method, size), f"{what}: verifies")
        true(not e.verifies(key_of(gateway), "POST", size), f"{what}: not for another method")
        true(not e.verifies(key_of(gateway), method, size + 1), f"{what}: nor another length")
        seen.add(e.get("x"))
    equal(len(seen), 7, "nonces differ")
    for node in [*m["pmap"].values(), *m["tmap"].values()]:
        equal(node["id_digest"], xxh64(node["daemon_id"].encode(), PLACEMENT_SEED), "id_digest")
        key_of(node)


def wrong_envelopes(c):
    """What is wrong, method, target, status: on every network of the owner."""
    e = envelope(c, "GET", "o")
    gateway, target = e.get("pid"), next(iter(c.targets()))
    u = e.get("u")
    yield "as it is", "GET", e.target(), 200
    yield "method HEAD", "HEAD", e.target(), 401
    yield "method DELETE", "DELETE", e.target(), 401
    yield "another object", "GET", e.target(path="/v1/objects/wall/p"), 401
    yield "another bucket", "GET", e.target(path="/v1/objects/other/o"), 401
    yield "signature changed", "GET", e.target(u=flipped(u)), 401
    yield "signature cut", "GET", e.target(u=u[:-1]), 401
    yield "signature longer", "GET", e.target(u=u + "A"), 401
    yield "signature padded", "GET", e.target(u=u + "=="), 401
    yield "signature no base64url", "GET", e.target(u="*" * 86), 401
    last = "AQgw".index(u[-1]) if u[-1] in "AQgw" else 0
    other = "BRhx"[last]
    yield "the same signature in another spelling", "GET", e.target(u=u[:-1] + other), 401
    yield "nonce changed", "GET", e.target(x="1"), 401
    yield "nonce missing", "GET", e.target(x=None), 401
    yield "version changed", "GET", e.target(vpams="zz"), (401, 503)
    yield "version missing", "GET", e.target(vpams=None), 401
    yield "version no number", "GET", e.target(vpams="!"), 400
    yield "nonce no number", "GET", e.target(x="-1"), 400
    yield "unknown signer", "GET", e.target(pid="pNobody01"), 401
    yield "signer is a target", "GET", e.target(pid=target), 401
    yield "our own key, as the gateway", "GET", e.target(u=own_signature(e, "GET", gateway)), 401
    yield "our own key, as nobody", "GET", \
        e.target(pid="pNobody01", u=own_signature(e, "GET", "pNobody01")), 401


@case("an envelope that is wrong in any way is refused, on each network")
def _(c):
    wrong = []
    for net, port in home(c).items():
        for what, method, target, status in wrong_envelopes(c):
            r = raw(port, method, target)
            if r.status not in (status if isinstance(status, tuple) else (status,)):
                wrong.append((net, what, r.status))
            if r.status == 200:
                equal(r.body, b"the object", f"{net}: {what}")
    equal(wrong, [], "not as documented")
    e = envelope(c, "GET", "o")
    equal(raw(home(c)["public"], "GET", e.target()).status, 200, "it is there")


@case("a PUT's envelope holds for its length, and for the methods of its kind only")
def _(c):
    e = envelope(c, "PUT", "o", length(10))
    port = home(c)["public"]
    equal(raw(port, "PUT", e.target(), body=b"eleven byte").status, 401, "longer")
    equal(raw(port, "PUT", e.target(), body=b"nine byte").status, 401, "shorter")
    equal(raw(port, "PUT", e.target(), [("Transfer-Encoding", "chunked")]).status, 401, "chunked")
    for method in ("PATCH", "POST"):
        equal(raw(port, method, e.target(), body=b"the object").status, 401, method)
    equal(raw(port, "PUT", e.target(), body=b"the object").status, 200, "as signed")


@case("without a marker: 403 on the public network, 400 on the others, whatever is asked")
def _(c):
    wrong = []
    e = envelope(c, "GET", "o")
    markers = {"none": None, "no u": {"u": None}, "no pid": {"pid": None}, "no utm": {"utm": None},
               "empty u": {"u": ""}, "empty pid": {"pid": ""}}
    for net, port in home(c).items():
        for what, changes in markers.items():
            target = e.target(**changes) if changes else path_of("wall", "o")
            for method in READS + WRITES:
                r = raw(port, method, target, body=b"{}" if method in WRITES else b"")
                if r.status != (403 if net == "public" else 400):
                    wrong.append((net, what, method, r.status))
    equal(wrong, [], "not refused as documented")


@case("Ais-Caller-Id on a public network is 403, with a good marker too")
def _(c):
    caller = [("Ais-Caller-Id", smap(c.port)["proxy_si"]["daemon_id"])]
    e = envelope(c, "GET", "o")
    equal(raw(home(c)["public"], "GET", e.target(), caller).status, 403, "object")
    for port in (c.port, home(c)["public"]):
        for path in ("/v1/health", "/v1/daemon?what=smap", "/v1/objects/wall/o", "/v1/nothing"):
            equal(raw(port, "GET", path, caller).status, 403, f"{path} at {port}")
    equal(raw(c.port, "POST", "/v1/cluster/keepalive/x", caller, b"{}").status, 403, "keepalive")


@case("intra headers without a right signature are refused; health answers all")
def _(c):
    m = smap(c.port)
    pid = m["proxy_si"]["daemon_id"]
    sig = b64url_text(OWN.sign(payload("GET", "/v1/objects/wall/o", pid, int(m["version"]), 0, 7)))
    good = {"Ais-Caller-Id": pid, "Ais-Caller-Name": f"p[{pid}]", "Ais-Caller-Is-Primary": "true",
            "Ais-Caller-Smap-Ver": m["version"], "Ais-Caller-Nonce": "7"}
    wrong = []
    for net in ("control", "data"):
        port = home(c)[net]
        for what, change, status in (
                ("no signature", {}, 401), ("foreign signature", {"Ais-Caller-Sig": sig}, 401),
                ("short signature", {"Ais-Caller-Sig": sig[:80]}, 401),
                ("empty signature", {"Ais-Caller-Sig": ""}, 401),
                ("no name", {"Ais-Caller-Name": None, "Ais-Caller-Sig": sig}, 400),
                ("no ID", {"Ais-Caller-Id": None, "Ais-Caller-Sig": sig}, 400),
                ("nonce no number", {"Ais-Caller-Nonce": "x", "Ais-Caller-Sig": sig}, 400),
                ("version no number", {"Ais-Caller-Smap-Ver": "-1", "Ais-Caller-Sig": sig}, 400)):
            headers = [(k, v) for k, v in {**good, **change}.items() if v is not None]
            r = raw(port, "GET", "/v1/objects/wall/o", headers)
            if r.status != status:
                wrong.append((net, what, r.status))
    equal(wrong, [], "not refused as documented")
    for n in c.nodes():
        for net, status in (("public", 200), ("control", 200)):
            port = int(n[net].split(":")[1])
            equal(raw(port, "GET", "/v1/health").status, status, f"health of {n['node']}, {net}")


# ---- calls between nodes, without credentials

def node_calls(m):
    """Everything that changes the cluster's metadata."""
    gateway, target = m["proxy_si"], next(iter(m["tmap"].values()))
    newer = dict(m, version=str(int(m["version"]) + 100))
    docs = json.dumps({"Smap": newer, "BMD": {"providers": {}, "uuid": m["uuid"], "version": "99"}})
    joiner = dict(target, daemon_id="tIntruder1", verifying_key=base64.b64encode(
        OWN.public).decode(), id_digest=0)
    join = json.dumps({"si": joiner, "uuid": m["uuid"], "smap": "0", "bmd": "0", "conf": "0"})
    again = json.dumps({"si": dict(gateway, verifying_key=joiner["verifying_key"]),
                        "uuid": m["uuid"], "smap": "0", "bmd": "0", "conf": "0"})
    versions = json.dumps({"smap": m["version"], "bmd": "1", "conf": "1"})
    for path, method, body in (("/v1/metasync", "PUT", docs), ("/v1/metasync", "POST", docs),
                               ("/v1/cluster/autoreg", "POST", join),
                               ("/v1/cluster/autoreg", "POST", again),
                               (f"/v1/cluster/keepalive/{target['daemon_id']}", "POST", versions),
                               ("/v1/cluster/keepalive", "POST", join),
                               (f"/v1/cluster/daemon/{target['daemon_id']}", "DELETE", "{}"),
                               ("/v1/daemon/join-by-admin", "POST", join),
                               ("/v1/daemon", "PUT", json.dumps(act("shutdown-node"))),
                               ("/v1/vote/result", "PUT", docs),
                               ("/v1/txn/wall/begin", "POST", docs),
                               ("/v1/xactions", "POST", "{}"), ("/v1/objstream/x", "PUT", "{}")):
        yield path, method, body.encode()


def proof(secret, method, path, when, body, uuid=""):
    text = b"\0".join((b"pagewire-join-v2", uuid.encode(), method.encode(), path.encode(),
                       str(when).encode(), body))
    sig = b64url_text(hmac.new(secret, text, hashlib.sha256).digest())
    return [("Ais-Join-Time", str(when)), ("Ais-Join-Sig", sig), ("Ais-Node-Version", "5.0.1")]


@case("calls between nodes are refused without credentials, on every network of every node")
def _(c):
    before, wrong = smap(c.port), []
    for n in c.nodes():
        for net in NETS:
            port = int(n[net].split(":")[1])
            for path, method, body in node_calls(before):
                if n["role"] == "gateway" and net == "public" and path.startswith("/v1/daemon"):
                    continue  # an administrator's calls
                r = raw(port, method, path, [("Ais-Node-Version", "5.0.1")], body)
                if not 400 <= r.status < 500:
                    wrong.append((n["node"], net, method, path, r.status))
    equal(wrong, [], "not refused")
    equal(smap(c.port), before, "the map is as it was")
    for port in c.targets().values():
        equal(smap(port)["version"], before["version"], "at targets too")


@case("a join proof of another secret, time, path, method or cluster is 401")
def _(c):
    before = smap(c.port)
    uuid = before["uuid"]
    control = ports_of(c, before["proxy_si"]["daemon_id"])["control"]
    with open(os.path.join(c.dir, "join.secret"), "rb") as f:
        secret = f.read().split(b"\n")[0]
    path = "/v1/cluster/autoreg"
    now, wrong = int(time.time()), []
    body = [b for p, _, b in node_calls(before) if p == path][0]
    for what, headers in (
            ("another secret", proof(secret[::-1], "POST", path, now, body, uuid)),
            ("an hour ago", proof(secret, "POST", path, now - 3600, body, uuid)),
            ("an hour ahead", proof(secret, "POST", path, now + 3600, body, uuid)),
            ("another path", proof(secret, "POST", "/v1/metasync", now, body, uuid)),
            ("another method", proof(secret, "PUT", path, now, body, uuid)),
            ("another body", proof(secret, "POST", path, now, body + b" ", uuid)),
            ("no cluster", proof(secret, "POST", path, now, body, "")),
            ("another cluster", proof(secret, "POST", path, now, body, "x" + uuid[1:]))):
        r = raw(control, "POST", path, headers, body)
        if r.status != 401:
            wrong.append((what, r.status))
    equal(wrong, [], "not refused")
    equal(smap(c.port), before, "the map is as it was")


@case("a target's public network: daemon is read only, buckets need a gateway")
def _(c):
    port = home(c)["public"]
    for method in ("PUT", "POST", "DELETE"):
        r = raw(port, method, "/v1/daemon", body=json.dumps(act("x")).encode())
        equal(r.status, 403, f"{method} /v1/daemon")
    for method, path in (("POST", "/v1/buckets/new"), ("DELETE", "/v1/buckets/wall"),
                         ("GET", "/v1/buckets/wall"), ("HEAD", "/v1/buckets/wall")):
        r = raw(port, method, path + "?provider=ais", body=json.dumps(act("x")).encode()
                if method != "HEAD" else b"")
        equal(r.status, 400, f"{method} {path}")
    equal(raw(port, "GET", "/v1/daemon?what=smap").status, 200, "the map is for all")


@case("areas that a network does not have")
def _(c):
    gateway = ports_of(c, smap(c.port)["proxy_si"]["daemon_id"])
    target = home(c)
    for port, path in ((gateway["control"], path_of("wall", "o")), (gateway["data"], "/v1/health"),
                       (gateway["public"], "/v1/metasync"), (target["data"], "/v1/health"),
                       (target["data"], "/v1/daemon?what=smap"),
                       (target["public"], "/v1/cluster?what=smap")):
        r = raw(port, "GET", path)
        true(400 <= r.status < 500, f"{path} at {port}: {r.status}")


@case("request_auth off: unmarked reads are served, and nothing else")
def _(_c):
    with Cluster("perimeter_open", 18660, "--targets", "2", "--set",
                 "auth.intra_cluster.request_auth=false") as c:
        create_bucket(c.port, "wall")
        put(c.port, "wall", "o", b"the object")
        mine = home(c)
        port = mine["public"]
        for method in READS:
            r = raw(port, method, path_of("wall", "o"))
            equal((r.status, r.header("Content-Length")), (200, "10"), method)
        for method in WRITES:
            r = raw(port, method, path_of("wall", "o"), body=b"{}")
            equal(r.status, 400, f"unmarked {method}")
            contains(r.error()["message"], f"{method}(obj) is expected to be redirected")
        for net in ("control", "data"):
            equal(raw(mine[net], "GET", path_of("wall", "o")).status, 400, f"unmarked on {net}")
        e = envelope(c, "GET", "o")
        equal(raw(port, "GET", e.target(u=flipped(e.get("u")))).status, 401, "wrong is not absent")
        equal(raw(port, "GET", e.target(pid="pNobody01")).status, 401, "unknown signer")
        equal(raw(port, "GET", e.target(u=None)).status, 200, "a marker without u is none")
        true(e.verifies(key_of(smap(c.port)["proxy_si"]), "GET"), "gateways sign all the same")
        caller = [("Ais-Caller-Id", "x")]
        equal(raw(port, "GET", path_of("wall", "o"), caller).status, 403, "caller")
        other = next(p for p in c.targets().values() if p != port)
        for method in READS:
            r = raw(other, method, path_of("wall", "o"))
            equal(r.status, 307, f"unmarked {method} at another target")
            equal(Envelope(r.header("Location")).port, port, "to the owner")
        equal(raw(port, "GET", path_of("wall", "no")).status in (307, 404), True, "missing")


# ---- members of our own making: they know the secret and have a key in the map

class Member:
    """A node that joined as documented; nobody listens at its addresses."""

    def __init__(self, c, role, node_id, port):
        self.id, self.key, self.role = node_id, Key(node_id.encode().ljust(32)), role
        net = {"node_ip_addr": HOST}
        nets = {name: dict(net, daemon_port=str(port + i), direct_url=f"http://{HOST}:{port + i}")
                for i, name in enumerate(("public_net", "intra_control_net", "intra_data_net"))}
        self.name = f"{'p' if role == 'proxy' else 't'}[{node_id}]"
        si = {**nets, "daemon_type": role, "daemon_id": node_id, "flags": 0,
              "id_digest": xxh64(node_id.encode(), PLACEMENT_SEED),
              "verifying_key": base64.b64encode(self.key.public).decode()}
        body = json.dumps({"si": si, "uuid": "", "smap": "0", "bmd": "0", "conf": "0"}).encode()
        with open(os.path.join(c.dir, "join.secret"), "rb") as f:
            secret = f.read().split(b"\n")[0]
        path = "/v1/cluster/autoreg"
        control = ports_of(c, smap(c.port)["proxy_si"]["daemon_id"])["control"]
        r = raw(control, "POST", path, proof(secret, "POST", path, int(time.time()), body), body)
        equal(r.status, 200, f"{node_id} joins: {r.text[:300]}")
        said = b"\0".join((b"pagewire-join-answer-v2", r.json()["Smap"]["uuid"].encode(), b"POST",
                           path.encode(), r.header("Ais-Join-Time").encode(), r.body))
        want = b64url_text(hmac.new(secret, said, hashlib.sha256).digest())
        equal(r.header("Ais-Join-Sig"), want, "proof of the answer")
        self.nonce = 1000

    def redirect(self, c, method, name):
        self.nonce += 1
        version = int(smap(c.port)["version"])
        path = f"/v1/objects/wall/{name}"
        sig = b64url_text(self.key.sign(payload(method, path, self.id, version, 0, self.nonce)))
        return (f"{path}?provider=ais&pid={self.id}&u={sig}&utm={base36(time.time_ns())}"
                f"&vpams={base36(version)}&x={base36(self.nonce)}")

    def headers(self, c, method, path, size, **changes):
        self.nonce += 1
        version = smap(c.port)["version"]
        text = payload(method, path, self.id, int(version), size, self.nonce)
        headers = {"Ais-Caller-Id": self.id, "Ais-Caller-Name": self.name,
                   "Ais-Caller-Smap-Ver": version, "Ais-Caller-Nonce": str(self.nonce),
                   "Ais-Caller-Sig": b64url_text(self.key.sign(text))}
        return list({**headers, **changes}.items())


def members_and_redirects(c):
    gateway = Member(c, "proxy", "pMember01", 18900)
    target = Member(c, "target", "tMember01", 18910)
    create_bucket(c.port, "wall")
    real = next(n for n in c.nodes() if n["role"] == "target")
    ports = ports_of(c, real["id"])
    name = next(f"o{i}" for i in range(100)
                if owner([real["id"], target.id], "wall", f"o{i}") == real["id"])
    put(c.port, "wall", name, b"x")
    for net in NETS:
        for signer, status in ((gateway, 200), (target, 401)):
            r = raw(ports[net], "GET", signer.redirect(c, "GET", name))
            equal(r.status, status, f"{signer.name} on {net}")
    return gateway, target, ports, name


@case("signers: a gateway's redirect is taken, a target's is not; members are kept to their role")
def _(_c):
    with Cluster("perimeter_members", 18680, "--targets", "1") as c:
        gateway, target, ports, name = members_and_redirects(c)
        primary = ports_of(c, smap(c.port)["proxy_si"]["daemon_id"])
        before = smap(c.port)
        path = f"/v1/objects/wall/{name}"
        r = raw(ports["data"], "GET", path, target.headers(c, "GET", path, 0))
        equal(r.status, 200, f"a member's signed GET: {r.text[:200]}")
        wrong_name = {"Ais-Caller-Name": f"p[{target.id}]"}
        r = raw(ports["data"], "GET", path, target.headers(c, "GET", path, 0, **wrong_name))
        equal(r.status, 400, "name and role disagree")
        for body in (json.dumps({"Smap": dict(before, version="9999")}).encode(), b"{}"):
            headers = gateway.headers(c, "PUT", "/v1/metasync", len(body))
            r = raw(ports["control"], "PUT", "/v1/metasync", headers, body)
            true(400 <= r.status < 500, f"metasync of another than the primary: {r.status}")
        for other in (before["proxy_si"]["daemon_id"], next(iter(c.targets()))):
            path = f"/v1/cluster/daemon/{other}"
            r = raw(primary["control"], "DELETE", path, target.headers(c, "DELETE", path, 0))
            true(r.status in (400, 403), f"leave for another: {r.status}")
            path, body = f"/v1/cluster/keepalive/{other}", b'{"smap":"1","bmd":"1","conf":"1"}'
            r = raw(primary["control"], "POST", path,
                    target.headers(c, "POST", path, len(body)), body)
            equal(r.status, 403, "keepalive for another")
        equal(smap(c.port)["version"], before["version"], "the map is as it was")
        path = f"/v1/cluster/daemon/{gateway.id}"
        r = raw(primary["control"], "DELETE", path, gateway.headers(c, "DELETE", path, 0))
        equal(r.status, 200, f"a gateway leaves: {r.text[:200]}")
        true(gateway.id not in smap(c.port)["pmap"], "it is out of the map")
        r = raw(ports["public"], "GET", gateway.redirect(c, "GET", name))
        equal(r.status, 401, "its redirects with it")


# ---- what a daemon does not start with

def refused(c, what, change, *words, check=True):
    """Exit 2 and one line with these words, of --config; of --check-config too."""
    with open(os.path.join(c.dir, "t1", "config.json"), encoding="utf-8") as f:
        config = json.load(f)
    folder = os.path.join(c.folder, what.replace(" ", "-"))
    os.makedirs(os.path.join(folder, "mp"))
    config.update(state_dir=os.path.join(folder, "state"), fspaths={os.path.join(folder, "mp"): ""},
                  node_id="tRefused1")
    for i, key in enumerate(("port", "port_intra_control", "port_intra_data")):
        config["host_net"][key] = str(18920 + i)
    os.makedirs(config["state_dir"])
    change(config, folder)
    file = os.path.join(folder, "config.json")
    with open(file, "w", encoding="utf-8") as f:
        json.dump(config, f, indent=1)
    for option in ("--check-config", "--config")[not check:]:
        try:
            r = subprocess.run([DAEMON, option, file], capture_output=True, text=True, timeout=20,
                               stdin=subprocess.DEVNULL, check=False)
        except subprocess.TimeoutExpired:
            true(False, f"{what}: {option} runs on")
        equal(r.returncode, 2, f"{what}: {option} ({r.stderr[-300:]})")
        for word in words:
            contains(r.stderr, word, f"{what}: {option}")
        lines = [line for line in r.stderr.splitlines() if line]
        true(len(lines) <= 2, f"{what}: {option}: clear lines, not {len(lines)}")


def secret_file(mode, text):
    def change(config, folder):
        path = os.path.join(folder, "join.secret")
        with contextlib.suppress(OSError):
            if text is not None:
                with open(path, "w", encoding="ascii") as f:
                    f.write(text)
                os.chmod(path, mode)
        config["auth"]["intra_cluster"]["node_join_secret_path"] = path
    return change


def same_address(config, _folder):
    config["host_net"]["port_intra_control"] = config["host_net"]["port"]


def no_secret(config, _folder):
    del config["auth"]["intra_cluster"]["node_join_secret_path"]


@case("public and intra-control on one address is exit 2")
def _(c):
    refused(c, "one address", same_address, "host_net.port_intra_control", "host_net.port")


@case("without a usable join secret a daemon does not start: exit 2")
def _(c):
    refused(c, "no secret", no_secret, "node_join_secret_path", check=False)
    refused(c, "missing secret", secret_file(0o600, None), "join.secret", check=False)
    for mode in (0o644, 0o640, 0o604, 0o660):
        refused(c, f"secret {mode:o}", secret_file(mode, "s" * 32 + "\n"), "join.secret",
                f"{mode:04o}", check=False)
    refused(c, "empty secret", secret_file(0o600, "\n"), "join.secret", check=False)


def main():
    with Cluster("perimeter", 18640, "--targets", "2") as cluster:
        create_bucket(cluster.port, "wall")
        create_bucket(cluster.port, "other")
        put(cluster.port, "wall", "o", b"the object")
        put(cluster.port, "wall", "p", b"another")
        return case.run(cluster)


sys.exit(main())
