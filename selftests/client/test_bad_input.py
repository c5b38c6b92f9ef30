#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Bad input at every endpoint: the documented status, a message that names it, nothing changed."""

import socket
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from calls import ABC, listing
from harness import (HOST, Cases, Cluster, Mismatch, act, ask, contains, create_bucket, equal, get,
                     list_all, put, quote, true, via)
from shapes import ERROR, shape

case = Cases()
B, O = "/v1/buckets/kept", "/v1/objects/kept/o"
LONG_BUCKET = "b" * 65
LONG_NAME = "n" * 1025


def snapshot(c):
    """Everything that must not change."""
    p = c.port
    bmd = ask(p, "GET", "/v1/daemon?what=bmd").json()
    smap = ask(p, "GET", "/v1/daemon?what=smap").json()
    config = ask(p, "GET", "/v1/cluster?what=cluster_config").json()
    return {"buckets": ask(p, "GET", "/v1/buckets", act("list")).json(), "bmd": bmd["version"],
            "smap": smap["version"], "config": config["config_version"],
            "objects": list_all(p, "kept", "name,size,checksum,version,custom")}


def walk(c, rows):
    """rows: method, path, body, status or statuses, words of the message."""
    before, wrong = snapshot(c), []
    for method, path, body, want, *words in rows:
        what = f"{method} {path[:90]} {str(body)[:60]}"
        try:
            r = ask(c.port, method, path, body)
            if r.status == 307:  # a target's to refuse
                r = via(c.port, method, path, body)
            equal(r.status, want, "status")
            shape(r.error(), ERROR)
            equal((r.error()["status"], r.error()["method"]), (want, method), "error")
            for word in words:
                contains(r.error()["message"], word, "message")
        except (Mismatch, OSError) as e:
            wrong.append(f"{what}: {e}")
    equal(wrong, [], f"{len(wrong)} of {len(rows)}")
    equal(snapshot(c), before, "what must not change")


ENDPOINTS = ("/v1/buckets", B, O, "/v1/daemon?what=smap", "/v1/cluster?what=smap",
             "/v1/reverse/daemon?what=config", "/metrics")


@case("a method nobody has heard of: 405 at every endpoint")
def _(c):
    before = snapshot(c)
    for port in (c.port, *c.targets().values()):
        for path in ENDPOINTS:
            if port != c.port and path.startswith(("/v1/cluster", "/v1/reverse")):
                continue
            r = ask(port, "BREW", path)
            equal(r.status, 405, f"{path} at {port}")
            true(r.header("Allow") is not None, f"Allow of {path}")
            true(r.header("Content-Type", "").startswith("text/plain"), f"type of {path}")
    equal(snapshot(c), before, "what must not change")


@case("a known method where it does not belong: 405, with those that do")
def _(c):
    for method, path, allowed in (("PUT", "/v1/buckets", "GET"), ("PATCH", "/v1/cluster", "GET"),
                                  ("PATCH", "/v1/daemon?what=smap", "GET"),
                                  ("TRACE", O, "GET"), ("TRACE", B, "GET")):
        r = ask(c.port, method, path)
        true(r.status in (400, 405, 501), f"{method} {path}: {r.status}")
        if r.status == 405 and method != "TRACE":
            contains(r.header("Allow"), allowed, path)
    equal(ask(c.port, "POST", "/v1/health").status, 200, "health answers each alike")


@case("areas that do not exist, or not here")
def _(c):
    for path in ("/v1", "/v1/", "/v2/buckets", "/v1/nosuch", "/nosuch", "//v1//buckets"):
        r = ask(c.port, "GET", path)
        true(400 <= r.status < 500, f"{path}: {r.status}")
    for port in c.targets().values():
        for path in ("/v1/cluster?what=smap", "/v1/nosuch"):
            true(400 <= ask(port, "GET", path).status < 500, path)
    equal(ask(c.port, "POST", "/v1/metasync", {}).status // 100, 4, "intra-cluster path on public")


@case("a bucket that does not exist: 404, in the words that clients look for")
def _(c):
    gone, words = "/v1/buckets/nosuch?provider=ais", 'bucket "ais://nosuch" does not exist'
    o = "/v1/objects/nosuch/o?provider=ais"
    rows = [("HEAD", gone, None), ("GET", gone, listing("0")),
            ("DELETE", gone, act("destroy-bck")),
            ("PATCH", gone, act("set-bprops", "", {"checksum": {"type": "md5"}})),
            ("POST", gone + "&bck_to=ais%2F%40%23%2Fnew%2F", act("move-bck")),
            ("DELETE", gone, act("delete-listrange", "", {"objnames": ["a"]})),
            ("GET", gone, act("summary-bck", "", {"uuid": "", "prefix": ""})),
            ("GET", o, None), ("PUT", o, ABC), ("HEAD", o, None), ("DELETE", o, None),
            ("PATCH", o, act("", "", {"a": "b"})), ("POST", o, act("rename-obj", "x"))]
    walk(c, [(*row, 404, words) for row in rows])


@case("an object that does not exist: 404")
def _(c):
    o, words = "/v1/objects/kept/none?provider=ais", "ais://kept/none"
    walk(c, [("GET", o, None, 404, words), ("HEAD", o, None, 404, words),
             ("DELETE", o, None, 404, words), ("PATCH", o, act("", "", {"a": "b"}), 404, words),
             ("POST", o, act("rename-obj", "x"), 404, words),
             ("PUT", o + "&object_to=ais%2F%40%23%2Fkept%2Fx", None, 404, words)])


@case("JSON that is none, or of the wrong types: 400")
def _(c):
    q = "?provider=ais"
    rows = []
    for text in ("{", "nonsense", '{"action":}', '["list"]', '"list"', '{"action":7}',
                 "[" * 5000):
        rows += [("POST", B + "x" + q, text, 400), ("DELETE", B + q, text, 400),
                 ("PATCH", B + q, text, 400), ("PUT", "/v1/cluster", text, 400),
                 ("POST", O + q, text, 400), ("PATCH", O + q, text, 400)]
        if text != '{"action":7}':  # a key that queries of jobs do not have
            rows += [("GET", "/v1/cluster?what=qryxstats", text, 400),
                     ("GET", "/v1/cluster?what=status", text, 400)]
    rows += [("GET", B + q, listing(0), 400), ("GET", B + q, listing("0", pagesize="7"), 400),
             ("GET", B + q, listing("x"), 400),
             ("PATCH", B + q, act("set-bprops", "", {"access": 3}), 400),
             ("PATCH", O + q, act("", "", {"": "x"}), 400),
             ("PATCH", O + q, act("", "", {"k": 7}), 400),
             ("PATCH", O + q, act("", "", {"k": "v" * 2049}), 400),
             ("DELETE", B + q, None, 400), ("PATCH", B + q, None, 400),
             ("GET", "/v1/cluster?what=qryxstats", None, 400)]
    walk(c, rows)


@case("actions and questions nobody knows: 400, naming them")
def _(c):
    q = "?provider=ais"
    bad = act("frobnicate")
    walk(c, [("POST", B + q, bad, 400, "frobnicate"), ("DELETE", B + q, bad, 400, "frobnicate"),
             ("PATCH", B + q, bad, 400, "frobnicate"), ("GET", B + q, bad, 400, "frobnicate"),
             ("POST", O + q, bad, 400, "frobnicate"),
             ("PUT", "/v1/cluster", bad, 400, "frobnicate"),
             ("GET", "/v1/daemon?what=frob", None, 400, "what=frob"),
             ("GET", "/v1/daemon", None, 400),
             ("GET", "/v1/cluster?what=frob", None, 400, "what=frob"),
             ("PUT", "/v1/cluster/set-config?frob.nicate=1", None, 400,
              'unknown property "frob.nicate"'),
             ("PUT", "/v1/cluster/set-config?checksum.type=crc64", None, 400, "checksum.type"),
             ("PUT", "/v1/cluster/set-config", None, 400),
             ("PATCH", B + q, act("set-bprops", "", {"checksum": {"type": "crc64"}}), 400, "crc64"),
             ("GET", "/v1/reverse/daemon?what=config", None, 400)])


@case("names of buckets")
def _(c):
    before, wrong = snapshot(c), []
    for name in (LONG_BUCKET, "a..b", ".hidden", "a*b", "a%20b", "%23x", "a%2Fb", "%00", "a:b"):
        # no such bucket can be: whether that is said as bad name or as missing is all one to GET
        for method, path, body, allowed in (
                ("POST", f"/v1/buckets/{name}?provider=ais", act("create-bck"), (400,)),
                ("GET", f"/v1/objects/{name}/o?provider=ais", None, (400, 404))):
            r = ask(c.port, method, path, body)
            if r.status not in allowed:
                wrong.append(f"{method} {path[:60]}: {r.status}")
    equal(wrong, [], "statuses")
    equal(snapshot(c), before, "what must not change")
    walk(c, [("POST", "/v1/buckets/new?provider=frob", act("create-bck"), 400, "frob"),
             ("POST", B + "?provider=ais&bck_to=nonsense", act("move-bck"), 400),
             ("POST", B + f"?provider=ais&bck_to=ais%2F%40%23%2F{LONG_BUCKET}%2F",
              act("move-bck"), 400)])


@case("names of objects")
def _(c):
    rows = []
    for name in (LONG_NAME, "../x", "a/../b", "./a", "a/.", "~/x", "x/", "/x"):
        path = f"/v1/objects/kept/{name}?provider=ais"
        rows += [("PUT", path, ABC, 400), ("GET", path, None, 400), ("DELETE", path, None, 400)]
        to = quote(name).replace("/", "%2F")
        rows.append(("PUT", f"{O}?object_to=ais%2F%40%23%2Fkept%2F{to}&provider=ais", None, 400))
        rows.append(("POST", O + "?provider=ais", act("rename-obj", name), 400))
    rows += [("POST", O + "?provider=ais", act("rename-obj", ""), 400),
             ("POST", O + "?provider=ais", act("rename-obj", "o"), 400),
             ("PUT", O + "?object_to=nonsense&provider=ais", None, 400),
             ("GET", B + "?provider=ais", listing("0", prefix="../"), 400)]
    walk(c, rows)


@case("numbers and words in queries")
def _(c):
    q = "?provider=ais"
    many = "&".join(f"k{i}=1" for i in range(101))
    walk(c, [("GET", B + q, listing("0", pagesize=-1), 400), ("GET", B + q, listing("-1"), 400),
             ("GET", B + q, listing("512"), 400), ("GET", B + q, listing("4096"), 400),
             ("GET", B + q, listing("32768"), 400),
             ("GET", B + q, listing("99999999999999999999"), 400),
             ("GET", B + q, listing("0", target="tNOSUCH99"), 400, "tNOSUCH99"),
             ("GET", B + q, listing("0", uuid="x"), 400),
             ("GET", O + "?" + many, None, 400),
             ("HEAD", O + q + "&props=frob", None, 400, "frob"),
             ("HEAD", O + q + "&presence=5", None, 400),
             ("PUT", O + q + "&append_type=frob", ABC, 400, "frob"),
             ("PUT", O + q + "&append_type=append&append_handle=frob", ABC, 400),
             ("PUT", O + q + "&append_type=flush", b"", 400)])


@case("headers of a PUT: nothing is stored")
def _(c):
    before = snapshot(c)
    for headers, words in (
            ({"Ais-Checksum-Type": "xxhash2", "Ais-Checksum-Value": "0" * 16}, "BAD DATA CHECKSUM"),
            ({"Ais-Checksum-Type": "md5", "Ais-Checksum-Value": "0" * 32}, "BAD DATA CHECKSUM"),
            ({"Ais-Checksum-Type": "crc64", "Ais-Checksum-Value": "00"}, "crc64"),
            ({"Ais-Custom-Md": "novalue"}, "novalue"), ({"Ais-Custom-Md": "k=" + "v" * 2049}, "")):
        for name in ("o", "new"):
            r = via(c.port, "PUT", f"/v1/objects/kept/{name}?provider=ais", ABC, headers)
            equal(r.status, 400, str(headers)[:100])
            contains(r.error()["message"], words)
    equal(snapshot(c), before, "what must not change")


@case("ranges that cannot be")
def _(c):
    for text in ("bytes=3-", "bytes=0-0,2-2", "bytes=2-1", "bytes=-", "bytes=", "bytes=x-y",
                 "rows=0-1", "bytes=99999999999999999999-"):
        r = get(c.port, "kept", "o", {"Range": text})
        true(r.status == 416, f"{text}: {r.status}")
        shape(r.error(), ERROR)
        if text == "bytes=3-":
            equal(r.header("Content-Range"), "bytes */3", text)


@case("requests that are none: 400 or so, and the connection ends")
def _(c):
    def raw(text):
        with socket.create_connection((HOST, c.port), timeout=20) as s:
            s.sendall(text)
            answer = b""
            while chunk := s.recv(65536):
                answer += chunk
        return answer

    host = b"Host: x\r\n"
    for text, want in (
            (b"GET /v1/health\r\n\r\n", (400, 505)), (b"nonsense\r\n\r\n", (400,)),
            (b"GET /v1/health HTTP/9.9\r\n" + host + b"\r\n", (400, 505)),
            (b"GET /v1/health HTTP/1.1\r\n\r\n", (400,)),
            (b"GET /v1/health HTTP/1.1\r\nHost : x\r\n\r\n", (400,)),
            (b"GET /v1/health HTTP/1.1\r\n" + host + b"A: b\r\n folded\r\n\r\n", (400,)),
            (b"GET /v1/health HTTP/1.1\r\n" + host + b"A: \x00\r\n\r\n", (400,)),
            (b"PUT " + O.encode() + b" HTTP/1.1\r\n" + host + b"Content-Length: 1\r\n"
             b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", (400,)),
            (b"PUT " + O.encode() + b" HTTP/1.1\r\n" + host + b"Content-Length: 3\r\n"
             b"Content-Length: 3\r\n\r\nabc", (400,)),
            (b"PUT " + O.encode() + b" HTTP/1.1\r\n" + host + b"Content-Length: +3\r\n\r\nabc",
             (400,)),
            (b"PUT " + O.encode() + b" HTTP/1.1\r\n" + host + b"Content-Length: "
             b"99999999999999999999\r\n\r\n", (400,)),
            (b"GET /" + b"x" * 100000 + b" HTTP/1.1\r\n" + host + b"\r\n", (400, 414, 431)),
            (b"GET / HTTP/1.1\r\n" + host + b"A: " + b"x" * 200000 + b"\r\n\r\n", (431,)),
            (b"GET / HTTP/1.1\r\n" + host + b"A: b\r\n" * 1000 + b"\r\n", (431,))):
        answer = raw(text + b"GET /v1/health HTTP/1.1\r\n" + host + b"\r\n")
        status = int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0
        true(status in want, f"{text[:60]!r}: {answer[:100]!r}")
        equal(answer.count(b"HTTP/1.1 "), 1, f"answers to {text[:60]!r}")
    equal(get(c.port, "kept", "o").body, ABC, "what was there")


def main():
    with Cluster("bad_input", 18560) as cluster:
        create_bucket(cluster.port, "kept")
        put(cluster.port, "kept", "o", ABC)
        return case.run(cluster)


sys.exit(main())
