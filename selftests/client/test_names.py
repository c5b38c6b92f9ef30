#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Object names: every legal one through the redirect and back, no illegal one anywhere."""

import json
import os
import random
import re
import sys
import unicodedata
import urllib.parse

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from harness import Cases, Cluster, act, ask, create_bucket, equal, list_all, true
from rawhttp import Conn, length, owner, path_of, split, uname

case = Cases()
NFC, NFD = unicodedata.normalize("NFC", "é"), unicodedata.normalize("NFD", "é")

# what a Location's path may hold unescaped: RFC 3986's unreserved and sub-delims, ":", "@", "/"
LOCATION = re.compile(r"http://127\.0\.0\.1:\d+/v1/objects/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|"
                      r"%[0-9A-F]{2})+\?[\x21-\x7e]+")

SPECIAL = ["a+b", "a%b", "a%2Fb", "a%252Fb", "100%", "%00", "%", "%zz", NFC, NFD, "?#&=;:@", "?",
           "#", "a b", " a", "a ", "a?b=c&d", "a#b", "a;b", "a&b", 'a"b', "a'b", "a<b>", "a\\b",
           "a^b", "a`b", "{a}", "[a]", "a|b", "a,b", "a*b", "a!b", "a$b", "(a)", "~", "~a", "a~/b",
           "日本語", "😀", "\u202eabc", "\ufeffbom", "\u00a0", "Å", "ﬁ", "ß", "İ", "...", "....",
           "....//etc", "..a", "a..", "a..b", ".a", "a/.b", "a/..b", "a/b..", "-", "--help",
           "a//b", "d//e", "d/e", "a", "a/b", "a/b/c", "con", "nul.txt", "C:\\x", "v1",
           "v1/objects", "meta", "blob", "0", "null", "a=b", "http://x/y", "a@b", "a.tar",
           "\U0010ffff", "\ud7ff", "\ue000"]
CONTROL = ["\x01", "a\x01b", "a\tb", "a\nb", "a\r\nb", "a\r\nX-Evil: 1", "\x7f", "a\x1fb",
           "\x1b[31m", "\u0085", "a\vb", "a\bb"]
LONG_NAMES = ["n" * 255, "n" * 256, "n" * 503, "n" * 504, "n" * 511, "n" * 512, "n" * 1023,
              "n" * 1024, "n" * 1023 + "o", "日" * 341, "p" * 600 + "/" + "q" * 423,
              "a/" * 300 + "z", "a/" * 511 + "zz", "%" * 1024, "\n" * 1024]


def random_names():
    """200 of all planes: legal, different, seldom plain."""
    rng, out = random.Random(40), set()
    while len(out) < 200:
        points = (rng.choice((rng.randrange(1, 128), rng.randrange(128, 0x800),
                              rng.randrange(0x800, 0xd800), rng.randrange(0x10000, 0x110000)))
                  for _ in range(rng.randrange(1, 40)))
        name = "".join(map(chr, points))
        parts = name.split("/")
        if name[0] != "/" and parts[-1] and not {".", ".."} & set(parts) and parts[0] != "~":
            out.add(name)
    return sorted(out)


def printable(name):
    return not any(b < 0x20 or b == 0x7f for b in name.encode())


def location(p, method, bucket, name, framing=()):
    """The redirect of a name, which must be a URL that any client can follow."""
    with Conn(p) as c:
        r = c.ask(method, path_of(bucket, name), framing)
    equal(r.status, 307, f"{method} {name!r}: {r.text[:200]}")
    text = r.header("Location")
    true(LOCATION.fullmatch(text), f"Location of {name!r}: {text}")
    path = urllib.parse.urlsplit(text).path
    equal(urllib.parse.unquote_to_bytes(path), f"/v1/objects/{bucket}/".encode() + name.encode(),
          "name in Location")
    return split(text)


def there(p, method, bucket, name, body=b""):
    framing = length(len(body)) if method == "PUT" else []
    port, target = location(p, method, bucket, name, framing)
    with Conn(port) as c:
        r = c.ask(method, target, framing, body)
    return port, r


def round_trip(c, bucket, names):
    """PUT all; GET, HEAD and list see each as itself; DELETE all."""
    p, targets = c.port, c.targets()
    create_bucket(p, bucket)
    for name in names:
        port, r = there(p, "PUT", bucket, name, b"is " + name.encode())
        equal(r.status, 200, f"PUT {name!r}: {r.text[:200]}")
        equal(port, targets[owner(targets, bucket, name)], f"owner of {name!r}")
        equal(r.header("Ais-Version"), "1", f"{name!r} is another's name too")
    listed = [e["name"] for e in list_all(p, bucket)]
    equal(listed, sorted(names, key=lambda n: n.encode()), "list, in order of bytes")
    paged = [e["name"] for e in list_all(p, bucket, pagesize=7)]
    equal(next(((a, b) for a, b in zip(paged, listed) if a != b), None), None, "pages differ at")
    equal(len(paged), len(listed), "names in all pages")
    for name in names:
        _, r = there(p, "GET", bucket, name)
        equal((r.status, r.body), (200, b"is " + name.encode()), f"GET {name!r}")
        _, r = there(p, "HEAD", bucket, name)
        equal((r.status, r.header("Content-Length")), (200, str(3 + len(name.encode()))),
              f"HEAD {name!r}")
        said = r.header("Ais-Name")
        want = name.strip(" ") if printable(name) else None  # a header's value has no blank ends
        equal(said and said.encode("latin-1").decode(), want, f"Ais-Name of {name!r}")
        equal(r.header("X-Evil"), None, "no header of the name's making")
    for name in names:
        _, r = there(p, "DELETE", bucket, name)
        equal(r.status, 200, f"DELETE {name!r}: {r.text[:200]}")
    equal(list_all(p, bucket), [], "list after DELETE")


@case("names with every special character")
def _(c):
    round_trip(c, "special", SPECIAL)


@case("names with control characters")
def _(c):
    round_trip(c, "control", CONTROL)


@case("names up to 1024 bytes, whatever their parts")
def _(c):
    round_trip(c, "long", LONG_NAMES)


@case("200 random names")
def _(c):
    round_trip(c, "random", random_names())


@case("a name decodes once: a%252Fb, a%2Fb and a/b are three spellings of two objects")
def _(c):
    p = c.port
    create_bucket(p, "once")
    there(p, "PUT", "once", "a%2Fb", b"percent")
    there(p, "PUT", "once", "a/b", b"slash")
    for spelled, want in (("a%252Fb", b"percent"), ("a%252fb", b"slash?"), ("a/b", b"slash"),
                          ("a%2Fb", b"slash"), ("a%2fb", b"slash"), ("%61/%62", b"slash")):
        r = ask(p, "GET", f"/v1/objects/once/{spelled}?provider=ais")
        equal(r.status, 307, spelled)
        port, target = split(r.header("Location"))
        r = ask(port, "GET", target)
        if want == b"slash?":
            equal(r.status, 404, "case of the digits is part of the decoded name")
        else:
            equal((r.status, r.body), (200, want), spelled)


# ---- what is refused

BAD_ESCAPES = ["a%00b", "%00", "a%ff", "%c0%af", "%ed%a0%80", "a%e4%bd", "%f5%80%80%80", "%80",
               "a%zz", "a%4", "a%", "%fe%ff"]
BAD_NAMES = ["../../etc/passwd", "..", ".", "../x", "./x", "a/../b", "a/./b", "a/..", "a/.",
             "%2e%2e%2fx", "..%2fx", "%2e%2e/%2e%2e/etc/passwd", "a/%2e%2e/b", "a%2f..%2fb", "~/x",
             "%7e/x", "/abs", "%2fabs", "/%2e%2e/x", "n" * 1025, "%6e" * 1025, "日" * 342,
             "a/" * 512 + "z", "n" * 5000]


def spelled(name):
    return urllib.parse.quote(name, safe="/%")


@case("illegal escapes and names are 400 at the gateway, for each verb")
def _(c):
    p, wrong = c.port, []
    create_bucket(p, "bad")
    for text in BAD_ESCAPES + BAD_NAMES + ["x/", "a//", "x%2f"]:
        for method in ("PUT", "GET", "DELETE", "HEAD", "PATCH", "POST"):
            if method == "HEAD" and text.endswith(("/", "%2f")):
                continue
            body = b"" if method in ("GET", "HEAD") else b'{"action":"rename-obj","name":"y"}'
            with Conn(p) as conn:
                r = conn.ask(method, f"/v1/objects/bad/{spelled(text)}?provider=ais",
                             length(len(body)) if body else (), body)
            if r.status != 400 or not r.error()["message"]:
                wrong.append((method, text[:60], r.status))
    equal(wrong, [], "not refused")
    equal(list_all(p, "bad"), [], "nothing was stored")


@case("illegal names in a rename, a copy and a multi-delete")
def _(c):
    p, wrong = c.port, []
    for name in ("../x", "a/../x", "/x", "x/", "~/x", "n" * 1025, "a\0b", ""):
        there(p, "PUT", "bad", "src", b"x")
        body = json.dumps(act("rename-obj", name)).encode()
        port, target = location(p, "POST", "bad", "src", length(len(body)))
        status = ask(port, "POST", target, body).status
        if status != 400:
            wrong.append(("rename", name[:20], status))
        query = "&object_to=" + urllib.parse.quote(uname("bad", name), safe="")
        r = ask(p, "PUT", path_of("bad", "src", query))
        if r.status == 307:
            port, target = split(r.header("Location"))
            r = ask(port, "PUT", target)
        if r.status != 400:
            wrong.append(("copy", name[:20], r.status))
        r = ask(p, "DELETE", "/v1/buckets/bad?provider=ais",
                act("delete-listrange", "", {"objnames": ["/src", f"{name}/../src", "src\0"]}))
        true(r.status in (200, 400), f"multi-delete: {r.status}")
    equal(wrong, [], "not refused")
    equal([e["name"] for e in list_all(p, "bad")], ["src"], "all is as it was")


@case("illegal bucket names are 400 (or 404) and make nothing")
def _(c):
    p, wrong = c.port, []
    for name in ("%2e%2e", "..", ".x", "a..b", "a%2fb", "a/b", "a%00", "a%20b", "*", "%23x",
                 "a%0d%0ab", "b" * 65, "%c3%a9", "a+b", "a:b"):
        body = b'{"action":"create-bck","name":"","value":null}'
        for method, path, sent in (("POST", f"/v1/buckets/{name}", body),
                                   ("PUT", f"/v1/objects/{name}/o", b"")):
            if method == "PUT" and name in ("a%2fb", "a/b"):
                continue  # that is the object b/o
            with Conn(p) as conn:
                r = conn.ask(method, f"{path}?provider=ais", length(len(sent)), sent)
            if r.status not in (400, 404):
                wrong.append((method, name, r.status))
    equal(wrong, [], "not refused")
    names = [b["name"] for b in ask(p, "GET", "/v1/buckets?provider=ais", act("list")).json()]
    true(set(names) <= {"special", "control", "long", "random", "once", "bad"}, f"buckets {names}")


@case("a bucket's name with a path behind it destroys and changes nothing")
def _(c):
    p = c.port
    create_bucket(p, "whole")
    for path in ("whole/x", "whole%2fx", "whole/"):
        for method, message in (("DELETE", act("destroy-bck")),
                                ("PATCH", act("set-bprops", "", {"checksum": {"type": "md5"}}))):
            r = ask(p, method, f"/v1/buckets/{path}?provider=ais", message)
            if not (method == "PATCH" and path == "whole/"):
                equal(r.status, 400, f"{method} {path}")
    equal(ask(p, "HEAD", "/v1/buckets/whole?provider=ais").status, 200, "it is there")


@case("a name beyond the basic plane is the same name in JSON, escaped or not")
def _(c):
    p = c.port
    create_bucket(p, "planes")
    for name in ("x\U0001f600", "x\U0001d800", "x\U0002d8f5y", "\U0010dfff", "x\ud7ff\ue000"):
        there(p, "PUT", "planes", "from", b"body")
        body = json.dumps(act("rename-obj", name)).encode()  # as surrogates
        port, target = location(p, "POST", "planes", "from", length(len(body)))
        equal(ask(port, "POST", target, body).status, 200, f"rename to {name!a}")
        equal(there(p, "GET", "planes", name)[1].status, 200, f"GET {name!a}")


@case("rename and copy to hostile names and back")
def _(c):
    p = c.port
    create_bucket(p, "moves")
    there(p, "PUT", "moves", "start", b"body")
    now = "start"
    for name in ("a+b", "a%2Fb", NFD, "?#&=;:@", "a\r\nb", "n" * 1024, "日" * 341, "a/" * 300 + "z",
                 "end"):
        body = json.dumps(act("rename-obj", name)).encode()
        port, target = location(p, "POST", "moves", now, length(len(body)))
        with Conn(port) as conn:
            r = conn.ask("POST", target, length(len(body)), body)
        equal(r.status, 200, f"rename to {name[:20]!r}: {r.text[:200]}")
        to = uname("moves", "copy of " + name[:300] + "z")
        query = "&object_to=" + urllib.parse.quote(to, safe="")
        with Conn(p) as conn:
            r = conn.ask("PUT", path_of("moves", name, query), length(0))
        port, target = split(r.header("Location"))
        equal(ask(port, "PUT", target).status, 200, f"copy of {name[:20]!r}")
        equal(there(p, "GET", "moves", name)[1].body, b"body", f"{name[:20]!r}")
        now = name
    equal(len(list_all(p, "moves")), 10, "nine copies and one object")


@case("nothing is made outside of the mountpaths")
def _(c):
    allowed = {"config.json", "pid", "log", "state", "mp1", "mp2"}
    for n in c.nodes():
        have = set(os.listdir(os.path.join(c.dir, n["node"])))
        true(have <= allowed, f"{n['node']} has {have - allowed}")
        for mp in have & {"mp1", "mp2"}:
            for folder, folders, files in os.walk(os.path.join(c.dir, n["node"], mp)):
                for f in folders + files:
                    true(re.fullmatch(r"[A-Za-z0-9._-]+", f), f"{folder}/{f!r} is a name of ours")


def main():
    with Cluster("names", 18540) as cluster:
        return case.run(cluster)


sys.exit(main())
