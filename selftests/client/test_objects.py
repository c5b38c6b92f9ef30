#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Objects: what each verb does and answers, with values computed here."""

import concurrent.futures
import hashlib
import json
import random
import re
import sys
import time
import urllib.parse

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from harness import (Cases, Cluster, act, ask, contains, create_bucket, equal, get, list_all, put,
                     true, via)
from rawhttp import (Conn, checksum, length, owner, path_of, self_test, signed, uname)

case = Cases()
ABC = b"abc"
TYPES = ("xxhash2", "xxhash", "md5", "crc32c", "sha256", "sha512")


def at_target(p, method, name, bucket="obj", headers=(), body=b"", query=""):
    """Through the gateway, with header lines that may repeat."""
    framing = length(len(body)) if method in ("PUT", "PATCH", "POST") else []
    port, target = signed(p, method, path_of(bucket, name, query), framing)
    with Conn(port) as c:
        return c.ask(method, target, list(headers) + framing, body)


def head(p, name, bucket="obj", query=""):
    return at_target(p, "HEAD", name, bucket, query=query)


def post(p, name, message, bucket="obj"):
    return via(p, "POST", path_of(bucket, name), message)


def bucket_with(p, name, props):
    equal(ask(p, "POST", f"/v1/buckets/{name}?provider=ais", act("create-bck", "", props)).status,
          200, f"create {name}")


def ais_headers(r):
    return sorted(k.lower() for k, _ in r.headers if k.lower().startswith("ais-"))


def owners(c, bucket, *names):
    targets = list(c.targets())
    return [owner(targets, bucket, name) for name in names]


def names_of_owner(c, bucket, source):
    """A name with the owner of the source and one with another."""
    targets, home = list(c.targets()), owners(c, bucket, source)[0]
    several = [f"{source}.to{i}" for i in range(100)]
    near = next(n for n in several if owner(targets, bucket, n) == home)
    far = next(n for n in several if owner(targets, bucket, n) != home)
    return near, far


# ---- GET, HEAD, PUT: the headers

@case("the tests' own arithmetic agrees with published vectors")
def _(_c, _p):
    self_test()


@case("PUT answers version, checksum and access time")
def _(_c, p):
    before = time.time_ns()
    r = put(p, "obj", "dir/a.bin", ABC, {"Ais-Atime": "1"})
    equal((r.body, r.header("Content-Length")), (b"", "0"), "body")
    equal(r.header("Ais-Checksum-Type"), "xxhash2", "type")
    equal(r.header("Ais-Checksum-Value"), checksum("xxhash2", ABC), "value")
    equal(r.header("Ais-Version"), "1", "first version")
    true(before - 10**9 <= int(r.header("Ais-Atime")) <= time.time_ns(), "time is the server's")


@case("GET has the documented headers, no others of the API")
def _(_c, p):
    r = get(p, "obj", "dir/a.bin")
    equal((r.status, r.body), (200, ABC), "GET")
    equal(r.header("Content-Type"), "application/octet-stream", "type")
    equal(r.header("Content-Length"), "3", "length")
    equal(r.header("Accept-Ranges"), "bytes", "Accept-Ranges")
    equal(ais_headers(r), ["ais-atime", "ais-checksum-type", "ais-checksum-value", "ais-version"],
          "headers")
    equal(r.header("Ais-Checksum-Value"), checksum("xxhash2", ABC), "checksum")
    true(r.header("Pagewire-Path") is None, "no Pagewire-Path unless asked for")
    tag = re.fullmatch(r'"v1-44bc2cf5ad770999-([0-9a-z]+)"', r.header("ETag"))
    true(tag, f"ETag {r.header('ETag')}")
    seconds = int(tag[1], 36) // 10**9
    equal(r.header("Last-Modified"), time.strftime("%a, %d %b %Y %H:%M:%S GMT",
                                                   time.gmtime(seconds)), "Last-Modified")


@case("HEAD v1 has everything known")
def _(c, p):
    r = head(p, "dir/a.bin")
    equal((r.status, r.body, r.header("Content-Length")), (200, b"", "3"), "HEAD")
    want = {"Ais-Checksum-Type": "xxhash2", "Ais-Checksum-Value": checksum("xxhash2", ABC),
            "Ais-Version": "1", "Ais-Name": "dir/a.bin", "Ais-Bucket-Name": "obj",
            "Ais-Bucket-Provider": "ais", "Ais-Present": "true", "Ais-Mirror-Copies": "1"}
    equal({k: r.header(k) for k in want}, want, "headers")
    tid = owners(c, "obj", "dir/a.bin")[0]
    place = re.fullmatch(rf"t\[{tid}\]:mp\[([^\],]+)(, [^\]]*)?\]", r.header("Ais-Location"))
    true(place, f"Ais-Location {r.header('Ais-Location')} of {tid}")
    equal(r.header("Ais-Mirror-Paths"), f"[{place[1]}]", "Ais-Mirror-Paths")
    g = get(p, "obj", "dir/a.bin")
    for name in ("ETag", "Last-Modified", "Ais-Version", "Content-Type", "Accept-Ranges"):
        equal(r.header(name), g.header(name), name)


@case("HEAD v2 has what was asked for")
def _(_c, p):
    of = {"checksum": {"ais-checksum-type", "ais-checksum-value"}, "atime": {"ais-atime"},
          "version": {"ais-version"}, "custom": {"ais-custom-md"}, "location": {"ais-location"},
          "copies": {"ais-mirror-copies", "ais-mirror-paths"}, "name": set(), "size": set(),
          "ec": set(), "chunked": set(), "last-modified": set(), "etag": set()}
    via(p, "PATCH", path_of("obj", "dir/a.bin"), act("", "", {"color": "red"}))
    for word, want in of.items():
        r = head(p, "dir/a.bin", query=f"&props={word}")
        equal((r.status, r.header("Content-Length")), (200, "3"), word)
        equal(set(ais_headers(r)), want | {"ais-present"}, word)
    r = head(p, "dir/a.bin", query="&props=last-modified,etag,copies,%20custom")
    true(re.fullmatch(r'"[^"]+"', r.header("ETag")), "ETag is quoted")
    true(r.header("Last-Modified").endswith(" GMT"), "Last-Modified")
    true(r.header("Ais-Mirror-Paths").startswith("/"), "no brackets in v2")
    equal(r.header("Ais-Custom-Md"), "color=red", "custom")
    for word in ("nope", "Size", "size,nope"):
        r = head(p, "dir/a.bin", query=f"&props={word}")
        equal(r.status, 400, word)
        contains(r.error()["message"], f'invalid property "{word.split(",")[-1]}" in props list')
    put(p, "obj", "empty", b"")
    equal(head(p, "empty", query="&props=size").header("Content-Length"), "0", "empty object")


@case("HEAD with presence")
def _(_c, p):
    for value in ("0", "2", "4", "9", ""):
        r = head(p, "dir/a.bin", query=f"&presence={value}")
        equal((r.status, r.header("Ais-Present")), (200, "true"), f"presence={value}")
    for value in ("1", "3"):
        r = head(p, "dir/a.bin", query=f"&presence={value}")
        equal((r.status, r.header("Ais-Checksum-Type")), (200, None), f"presence={value}")
        equal(head(p, "no", query=f"&presence={value}").status, 404, "missing")
    equal(head(p, "dir/a.bin", query="&presence=5").status, 400, "presence=5 of what is there")


@case("missing: object on GET, HEAD, DELETE; bucket")
def _(c, p):
    tid = owners(c, "obj", "dir/no")[0]
    for r in (get(p, "obj", "dir/no"), head(p, "dir/no")):
        equal((r.status, r.error()["tcode"]), (404, "ErrNotFound"), "missing")
        equal(r.error()["message"], f"t[{tid}]: ais://obj/dir/no does not exist", "text")
    r = at_target(p, "DELETE", "dir/no")
    equal((r.status, r.error()["message"]), (404, "ais://obj/dir/no doesn't exist"), "DELETE")
    true("tcode" not in r.error(), "no tcode")
    for method in ("GET", "HEAD", "PUT", "DELETE", "PATCH", "POST"):
        r = ask(p, method, path_of("nobucket", "o"), None if method == "HEAD" else act("x"))
        equal((r.status, r.error()["tcode"]), (404, "ErrBckNotFound"), method)
        equal(r.error()["message"], 'bucket "ais://nobucket" does not exist', method)


@case("DELETE; deleted is gone from GET and list; body evict-listrange")
def _(_c, p):
    for body in (b"", json.dumps(act("evict-listrange")).encode()):
        put(p, "obj", "del", ABC)
        framing = length(len(body)) if body else []
        port, target = signed(p, "DELETE", path_of("obj", "del"), framing)
        with Conn(port) as c:
            equal(c.ask("DELETE", target, framing, body).status, 200, "DELETE")
        equal(get(p, "obj", "del").status, 404, "GET")
        equal(list_all(p, "obj", prefix="del"), [], "list")


# ---- versions

@case("versions count; skip_vc and Ais-Version; deleted begins anew")
def _(_c, p):
    def version(query="", headers=()):
        r = at_target(p, "PUT", "v", headers=headers, body=ABC, query=query)
        equal(r.status, 200, r.text)
        equal(head(p, "v").header("Ais-Version"), r.header("Ais-Version"), "HEAD")
        return r.header("Ais-Version")
    equal([version() for _ in range(3)], ["1", "2", "3"], "three PUTs")
    equal(version("&skip_vc=true"), "1", "skip_vc")
    equal(version(), "2", "after skip_vc")
    equal(version(headers=[("Ais-Version", "41")]), "42", "Ais-Version n is n + 1")
    equal(version(), "43", "and goes on from there")
    equal(at_target(p, "DELETE", "v").status, 200, "DELETE")
    equal(version(), "1", "after DELETE")
    for wrong in ("x", "-1", "9223372036854775807", "99999999999999999999"):
        r = at_target(p, "PUT", "v", headers=[("Ais-Version", wrong)], body=b"new")
        equal(r.status, 400, f"Ais-Version {wrong}")
    equal(get(p, "obj", "v").body, ABC, "unchanged")


@case("many writers of one name: each has a version of its own, the last is what is read")
def _(_c, p):
    writers, each = 8, 12

    def write(i):
        return [(int(put(p, "obj", "race", b"%d.%d" % (i, n)).header("Ais-Version")),
                 b"%d.%d" % (i, n)) for n in range(each)]
    with concurrent.futures.ThreadPoolExecutor(writers) as pool:
        said = [pair for pairs in pool.map(write, range(writers)) for pair in pairs]
    equal(sorted(v for v, _ in said), list(range(1, writers * each + 1)), "versions")
    r = get(p, "obj", "race")
    equal((int(r.header("Ais-Version")), r.body), max(said), "the last")


@case("versioning off: no Ais-Version")
def _(_c, p):
    bucket_with(p, "nover", {"versioning": {"enabled": False}})
    equal(put(p, "nover", "o", ABC).header("Ais-Version"), None, "PUT")
    for r in (get(p, "nover", "o"), head(p, "o", "nover")):
        equal((r.status, r.header("Ais-Version")), (200, None), "GET, HEAD")


# ---- custom metadata

def custom(p, name, bucket="obj"):
    r = get(p, bucket, name)
    equal(r.status, 200, name)
    equal(sorted(head(p, name, bucket).all("Ais-Custom-Md")), sorted(r.all("Ais-Custom-Md")),
          "GET and HEAD agree")
    return sorted(r.all("Ais-Custom-Md"))


@case("custom metadata by PUT: a line a pair; the next PUT drops it")
def _(_c, p):
    lines = [("Ais-Custom-Md", "color=red"), ("Ais-Custom-Md", "owner=me=you")]
    r = at_target(p, "PUT", "md", headers=lines, body=ABC)
    equal((r.status, sorted(r.all("Ais-Custom-Md"))), (200, ["color=red", "owner=me=you"]), "PUT")
    equal(custom(p, "md"), ["color=red", "owner=me=you"], "GET")
    for bad in ("noequal", "=x"):
        r = at_target(p, "PUT", "md", headers=[("Ais-Custom-Md", bad)], body=b"other")
        equal(r.status, 400, bad)
    equal(get(p, "obj", "md").body, ABC, "refused PUTs change nothing")
    put(p, "obj", "md", ABC)
    equal(custom(p, "md"), [], "after a plain PUT")


@case("custom metadata by PATCH: merge, replace, nothing else changes")
def _(_c, p):
    def patch(value, query="", name="md"):
        return via(p, "PATCH", path_of("obj", name, query), act("", "", value))
    before = head(p, "md")
    r = patch({"a": "1", "b": "2"})
    equal((r.status, r.body), (200, b""), "PATCH")
    equal(patch({"b": "3", "c": "4"}).status, 200, "merge")
    equal(custom(p, "md"), ["a=1", "b=3", "c=4"], "merged")
    equal(patch({"z": "9"}, "&set-new-custom=true").status, 200, "replace")
    equal(custom(p, "md"), ["z=9"], "replaced")
    equal(patch(None).status, 200, "null")
    equal(custom(p, "md"), ["z=9"], "after null")
    for name in ("Ais-Version", "Ais-Checksum-Value", "Content-Length"):
        equal(head(p, "md").header(name), before.header(name), name)
    for value in ({"": "x"}, ["a"], "a", 1, {"k": "a\r\nX-Evil: 1"}, {"k\n": "v"}, {"k": "\0"}):
        r = patch(value)
        equal(r.status, 400, f"{value!r}: {r.text}")
    equal(patch({"a": "1"}, name="no").status, 404, "missing object")
    equal(custom(p, "md"), ["z=9"], "after refusals")


@case("custom metadata: 2048 bytes fit, 2049 do not")
def _(_c, p):
    for size, status in ((2048, 200), (2049, 400)):
        value = "v" * (size - 1)
        r = via(p, "PATCH", path_of("obj", "md", "&set-new-custom=true"), act("", "", {"k": value}))
        equal(r.status, status, f"PATCH of {size}")
        if status == 400:
            contains(r.error()["message"], "exceeds max 2048 bytes")
        r = at_target(p, "PUT", f"md{size}", headers=[("Ais-Custom-Md", f"k={value}")], body=ABC)
        equal(r.status, status, f"PUT of {size}: {r.text}")
        equal(get(p, "obj", f"md{size}").status, 200 if status == 200 else 404, "stored")
    equal(custom(p, "md"), ["k=" + "v" * 2047], "kept")
    r = via(p, "PATCH", path_of("obj", "md"), act("", "", {"x": "y"}))
    equal(r.status, 400, "the merged total counts")


@case("an entry named ETag is the entity tag, quoted")
def _(_c, p):
    put(p, "obj", "etag", ABC)
    via(p, "PATCH", path_of("obj", "etag"), act("", "", {"ETag": "mine"}))
    for r in (get(p, "obj", "etag"), head(p, "etag"), head(p, "etag", query="&props=etag")):
        equal(r.header("ETag"), '"mine"', "ETag")


# ---- checksums

@case("each type of checksum as the bucket's, of nothing and of something")
def _(_c, p):
    for kind in TYPES:
        bucket_with(p, f"ck-{kind}", {"checksum": {"type": kind}})
        for data in (b"", ABC, bytes(range(256)) * 300):
            want = (kind, checksum(kind, data))
            answers = put(p, f"ck-{kind}", "o", data), get(p, f"ck-{kind}", "o"), \
                head(p, "o", f"ck-{kind}"), head(p, "o", f"ck-{kind}", "&props=checksum")
            for r in answers:
                equal((r.header("Ais-Checksum-Type"), r.header("Ais-Checksum-Value")), want, kind)
            tag = answers[1].header("ETag")
            if kind == "md5":
                equal(tag, f'"{want[1]}"', "ETag is the MD5")
            else:
                true(tag.startswith(f'"v1-{want[1]}-'), f"ETag {tag}")


@case("checksum type none: none is kept, what a client sends is verified, still an ETag")
def _(_c, p):
    bucket_with(p, "ck-none", {"checksum": {"type": "none"}})
    headers = {"Ais-Checksum-Type": "md5", "Ais-Checksum-Value": "0" * 32}
    equal(via(p, "PUT", path_of("ck-none", "o"), ABC, headers).status, 400, "a wrong one")
    headers["Ais-Checksum-Value"] = checksum("md5", ABC)
    r = put(p, "ck-none", "o", ABC, headers)
    for r in (r, get(p, "ck-none", "o"), head(p, "o", "ck-none")):
        equal((r.status, r.header("Ais-Checksum-Type"), r.header("Ais-Checksum-Value")),
              (200, None, None), "none")
    true(re.fullmatch(r'"v1-[^"]+"', get(p, "ck-none", "o").header("ETag")), "ETag")


@case("PATCH of the bucket's type: the next objects have it, those before keep theirs")
def _(_c, p):
    create_bucket(p, "ck-patch")
    put(p, "ck-patch", "before", ABC)
    for kind in TYPES:
        r = ask(p, "PATCH", "/v1/buckets/ck-patch?provider=ais",
                act("set-bprops", "", {"checksum": {"type": kind}}))
        equal(r.status, 200, f"PATCH to {kind}: {r.text}")
        equal(put(p, "ck-patch", kind, ABC).header("Ais-Checksum-Value"), checksum(kind, ABC), kind)
    for name in ("before", *TYPES):
        kind = "xxhash2" if name == "before" else name
        equal(get(p, "ck-patch", name).header("Ais-Checksum-Type"), kind, name)
    r = ask(p, "PATCH", "/v1/buckets/ck-patch?provider=ais",
            act("set-bprops", "", {"checksum": {"type": "rot13"}}))
    equal(r.status, 400, "unknown type")


@case("a client's checksum is verified; the bucket's own is stored")
def _(_c, p):
    put(p, "obj", "ck-old", b"old")
    for kind in TYPES:
        right, wrong = checksum(kind, ABC), checksum(kind, b"abd")
        headers = {"Ais-Checksum-Type": kind, "Ais-Checksum-Value": right}
        r = put(p, "obj", f"ck-{kind}", ABC, headers)
        equal(r.header("Ais-Checksum-Type"), "xxhash2", "stored type")
        headers["Ais-Checksum-Value"] = wrong
        for name in ("ck-new", "ck-old"):
            r = via(p, "PUT", path_of("obj", name), ABC, headers)
            equal((r.status, r.error()["tcode"]), (400, "ErrBadCksum"), kind)
            equal(r.error()["message"], f"BAD DATA CHECKSUM: {kind}({wrong} != {right}) "
                  f"(context: ais://obj/{name})", "text")
        headers["Ais-Checksum-Value"] = right.upper()
        equal(via(p, "PUT", path_of("obj", "ck-new"), ABC, headers).status, 400, "upper case")
    equal(get(p, "obj", "ck-new").status, 404, "nothing is stored")
    equal((get(p, "obj", "ck-old").body, head(p, "ck-old").header("Ais-Version")),
          (b"old", "1"), "the old one stays")
    r = via(p, "PUT", path_of("obj", "ck-new"), ABC,
            {"Ais-Checksum-Type": "rot13", "Ais-Checksum-Value": "nop"})
    equal(r.status, 400, "unknown type")


# ---- copy, rename, append

@case("copy: to the same target, to another, to another bucket")
def _(c, p):
    bucket_with(p, "copies", {"checksum": {"type": "sha256"}})
    data = random.Random(1).randbytes(3 << 20)
    at_target(p, "PUT", "src", headers=[("Ais-Custom-Md", "k=v")], body=data)
    near, far = names_of_owner(c, "obj", "src")
    for to, name in (("obj", near), ("obj", far), ("copies", near), ("copies", far),
                     ("copies", "o% d?/+&é")):
        query = "&object_to=" + urllib.parse.quote(uname(to, name), safe="")
        r = via(p, "PUT", path_of("obj", "src", query))
        equal((r.status, r.body), (200, b""), f"copy to {to}/{name}: {r.text}")
        equal(ais_headers(r), [], "no headers")
        g = get(p, to, name)
        equal((g.status, hashlib.sha256(g.body).digest()), (200, hashlib.sha256(data).digest()),
              f"{to}/{name}")
        equal((custom(p, name, to), g.header("Ais-Version")), (["k=v"], "1"), "its metadata")
        kind = "xxhash2" if to == "obj" else "sha256"
        equal(g.header("Ais-Checksum-Value"), checksum(kind, data), kind)
    equal(get(p, "obj", "src").body, data, "the source stays")
    q = "&latest-ver=false&synchronize=false&object_to=" + urllib.parse.quote(uname("copies", near))
    equal(via(p, "PUT", path_of("obj", "src", q)).status, 200, "as the SDK")
    equal(head(p, near, "copies").header("Ais-Version"), "2", "it is a new version")


@case("copy: what is refused")
def _(_c, p):
    def follow(name, to):
        path = path_of("obj", name, "&object_to=" + urllib.parse.quote(to, safe=""))
        r = ask(p, "PUT", path)
        return via(p, "PUT", path) if r.status == 307 else r
    equal(follow("src", uname("obj", "src")).status, 200, "onto itself")
    r = follow("no", uname("copies", "x"))
    equal(r.status, 404, "source missing")
    contains(r.text, "ais://obj/no does not exist")
    r = follow("src", uname("nobucket", "x"))
    equal(r.status, 404, "bucket missing")
    contains(r.error()["message"], 'bucket "ais://nobucket" does not exist')
    for wrong in ("gibberish", "ais/@#/copies", "ais/@#/copies/", "zz/@#/copies/x",
                  "ais/@#/copies/../x", "ais/@#//x"):
        equal(follow("src", wrong).status, 400, wrong)
    equal(len(list_all(p, "copies")), 3, "objects in the bucket")


@case("rename-obj: to the same target and to another; onto an existing one")
def _(c, p):
    near, far = names_of_owner(c, "obj", "ren")
    put(p, "obj", far, b"in the way")
    data = random.Random(2).randbytes(300000)
    for name in (near, far):
        at_target(p, "PUT", "ren", headers=[("Ais-Custom-Md", "k=v")], body=data)
        r = post(p, "ren", act("rename-obj", name))
        equal((r.status, r.body), (200, b""), r.text)
        equal(get(p, "obj", "ren").status, 404, "the old name")
        equal((get(p, "obj", name).body == data, custom(p, name)), (True, ["k=v"]), name)
    put(p, "obj", "ren", ABC)
    for name in ("ren", "", "a/../b", "x/", "/x", "y" * 1025):
        equal(post(p, "ren", act("rename-obj", name)).status, 400, f"to {name[:20]!r}")
    equal(get(p, "obj", "ren").body, ABC, "it stays")
    equal(post(p, "no", act("rename-obj", "x")).status, 404, "missing")


def append(p, name, data, handle="", kind="append", headers=None):
    query = f"&append_type={kind}&append_handle={urllib.parse.quote(handle, safe='')}"
    return via(p, "PUT", path_of("obj", name, query), data, headers)


@case("append: pieces, invisible until flushed; what is there is the beginning")
def _(c, p):
    want = b""
    for start, ck in ((b"", None), (b"first,", "md5")):
        if start:
            put(p, "obj", "app", start)
            want = start
        else:
            at_target(p, "DELETE", "app")
            want = b""
        handle = ""
        for piece in (b"one,", b"", b"two," * 50000, b"three"):
            r = append(p, "app", piece, handle)
            equal(r.status, 200, r.text)
            handle = r.header("Ais-Append-Handle")
            equal(handle.split("|")[0], owners(c, "obj", "app")[0], "the handle's first element")
            want += piece
            seen = get(p, "obj", "app")
            equal((seen.status, seen.body), (200, start) if start else (404, seen.body), "unseen")
        headers = {"Ais-Checksum-Type": ck, "Ais-Checksum-Value": checksum(ck, want)} if ck else {}
        r = append(p, "app", b"", handle, "flush", headers)
        equal((r.status, r.header("Ais-Append-Handle")), (200, None), r.text)
        r = get(p, "obj", "app")
        equal(r.body == want, True, f"{len(r.body)} bytes of {len(want)}")
        equal(r.header("Ais-Checksum-Value"), checksum("xxhash2", want), "checksum")


@case("append: what is refused")
def _(_c, p):
    handle = append(p, "app2", ABC).header("Ais-Append-Handle")
    r = append(p, "app2", b"", handle, "flush",
               {"Ais-Checksum-Type": "md5", "Ais-Checksum-Value": "0" * 32})
    equal((r.status, r.error()["tcode"]), (400, "ErrBadCksum"), "wrong checksum")
    contains(r.error()["message"], "BAD DATA CHECKSUM: md5(" + "0" * 32)
    equal(get(p, "obj", "app2").status, 404, "nothing stored")
    equal(append(p, "app2", ABC, kind="nope").status, 400, "unknown append_type")
    equal(append(p, "app2", b"", kind="flush").status, 400, "flush without handle")
    wrong = ask(p, "PUT", path_of("obj", "app2", "&append_type=append&append_handle=garbage"), ABC)
    equal(wrong.status, 400, "a handle that is none, at the gateway")
    tid = handle.split("|")[0]
    for bad in (f"{tid}|../../x|xxhash2|", f"{tid}|nope|xxhash2|", f"{tid}||xxhash2|"):
        r = append(p, "app2", ABC, bad)
        true(r.status in (400, 404), f"handle {bad}: {r.status}")


@case("POST: check-lock is free; unknown and not built actions say so")
def _(_c, p):
    equal(post(p, "dir/a.bin", act("check-lock")).status, 200, "check-lock")
    r = post(p, "dir/a.bin", act("x"))
    equal((r.status, r.error()["message"]), (400, 'invalid action "x"'), "unknown")
    r = post(p, "dir/a.bin", act("mpt-upload"))
    equal(r.status, 501, "multipart upload")
    for body in ("{", "[]", '{"action":1}'):
        r = via(p, "POST", path_of("obj", "dir/a.bin"), body.encode())
        equal(r.status, 400, f"{body}: {r.text}")


@case("the bucket's access mask")
def _(_c, p):
    create_bucket(p, "ro")
    put(p, "ro", "o", ABC)
    r = ask(p, "PATCH", "/v1/buckets/ro?provider=ais", act("set-bprops", "", {"access": "3"}))
    equal(r.status, 200, r.text)
    r = ask(p, "HEAD", "/v1/buckets/ro?provider=ais")
    bid = json.loads(r.header("Ais-Bucket-Props"))["bid"]
    r = ask(p, "PUT", path_of("ro", "o"), b"x")
    serial = int(bid) & (1 << 60) - 1
    equal((r.status, r.error()["tcode"]), (403, "ErrBucketAccessDenied"), "PUT")
    equal(r.error()["message"], f"bucket ais://ro({serial:#x}): PUT access denied "
          "(allowed: [GET,HEAD-OBJECT])", "text")
    for method in ("DELETE", "PATCH"):
        r = ask(p, method, path_of("ro", "o"), act("", "", {}))
        r = r if r.status != 307 else via(p, method, path_of("ro", "o"), act("", "", {}))
        equal(r.status, 403, method)
    equal((get(p, "ro", "o").body, head(p, "o", "ro").status), (ABC, 200), "reads")


def main():
    with Cluster("objects", 18460) as cluster:
        create_bucket(cluster.port, "obj")
        return case.run(cluster, cluster.port)


sys.exit(main())
