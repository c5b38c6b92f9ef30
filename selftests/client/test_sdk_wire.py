#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What both SDKs put on the wire, replayed; ranges, conditions, names, signatures."""

import json
import sys
import urllib.parse

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from calls import ABC, EMPTY_XXH, fill, finished, job_done, new_job, page
from harness import (Cases, Cluster, act, ask, create_bucket, equal, get, list_all, put, true, via,
                     wait_for)
from shapes import SUMMARY, shape

case = Cases()


# ---- the SDKs

@case("SDK: list values exactly as sent, start_after, iteration")
def _(c, p):
    value = {"prefix": "many/", "pagesize": 0, "uuid": "", "props": "", "continuation_token": "",
             "flags": "0", "target": "", "start_after": "many/070"}
    accept = {"Accept": "application/msgpack"}
    got = page(p, "cli", {"action": "list", "name": "", "value": value}, accept)
    equal([e["n"] for e in got["Entries"]], [f"many/{i:03}" for i in range(71, 80)], "entries")
    equal(got["ContinuationToken"], "", "token")


@case("SDK: info() is two HEADs, the prefix only in the first")
def _(c, p):
    r = ask(p, "HEAD", "/v1/buckets/cli/many?presence=0&bsumm_remote=True&provider=ais")
    equal(r.status, 202, "first")
    uuid = r.header("Ais-Xaction-Id")
    r = wait_for(lambda: finished(ask(p, "HEAD", "/v1/buckets/cli?presence=0&bsumm_remote=True&"
                                      f"provider=ais&uuid={uuid}")), 20, "the summary")
    summary = json.loads(r.header("Ais-Bucket-Summ"))
    shape(summary, SUMMARY)
    equal(summary["ObjCount"]["obj_count_present"], "80", "only the prefix")


@case("SDK 1.25: HEAD without props, full and empty objects")
def _(c, p):
    r = via(p, "HEAD", "/v1/objects/cli/dir/a.bin?provider=ais")
    equal((r.status, r.header("Content-Length")), (200, "3"), "HEAD")
    equal((r.header("Ais-Name"), r.header("Ais-Bucket-Name"), r.header("Ais-Bucket-Provider"),
           r.header("Ais-Present"), r.header("Ais-Mirror-Copies")),
          ("dir/a.bin", "cli", "ais", "true", "1"), "headers")
    true(r.header("Ais-Mirror-Paths").startswith("[/"), "Ais-Mirror-Paths")
    r = via(p, "HEAD", "/v1/objects/cli/many/000?provider=ais")
    equal((r.status, r.header("Ais-Checksum-Value")), (200, EMPTY_XXH), "empty object")
    r = get(p, "cli", "many/000")
    equal((r.status, r.header("Content-Length"), r.body), (200, "0", b""), "GET of it")
    for presence in ("1", "3"):
        r = via(p, "HEAD", f"/v1/objects/cli/dir/a.bin?provider=ais&presence={presence}")
        equal((r.status, r.header("Ais-Checksum-Value")), (200, None), f"presence={presence}")


@case("SDK 2.0: HEAD with the props it sends")
def _(c, p):
    for words in ("name,size", "checksum,atime,version,copies,custom,location",
                  "checksum,atime,version,custom", "chunked"):
        r = via(p, "HEAD", f"/v1/objects/cli/dir/a.bin?props={words}&provider=ais")
        equal((r.status, r.header("Content-Length"), r.header("Ais-Present")), (200, "3", "true"),
              words)
        equal(r.header("Ais-Name"), None, "no name in this form")
        equal(r.header("Ais-Checksum-Value") is not None, "checksum" in words, words)
    r = via(p, "HEAD", "/v1/objects/cli/many/000?props=name,size&provider=ais")
    equal(r.header("Content-Length"), "0", "empty object")


@case("ranges")
def _(c, p):
    data = bytes(range(256)) * 400
    put(p, "cli", "range", data)
    for ask_for, want in (("bytes=0-0", (0, 1)), ("bytes=1000-1999", (1000, 2000)),
                          ("bytes=102300-", (102300, 102400)), ("bytes=-100", (102300, 102400)),
                          ("bytes=102000-999999999", (102000, 102400)),
                          ("bytes=-999999999", (0, 102400))):
        r = get(p, "cli", "range", {"Range": ask_for})
        equal((r.status, r.header("Content-Range"), r.header("Accept-Ranges")),
              (206, f"bytes {want[0]}-{want[1] - 1}/102400", "bytes"), ask_for)
        equal(r.body == data[want[0]:want[1]], True, f"bytes of {ask_for}")
    r = get(p, "cli", "range", {"Range": "bytes=102400-"})
    equal((r.status, r.header("Content-Range")), (416, "bytes */102400"), "past the end")
    for bad in ("bytes=0-1,5-6", "bytes=abc", "chars=1-2", "bytes=-", "bytes=9-3"):
        equal(get(p, "cli", "range", {"Range": bad}).status, 416, bad)
    r = get(p, "cli", "many/000", {"Range": "bytes=0-"})
    equal((r.status, r.header("Content-Range")), (416, "bytes */0"), "of an empty object")


@case("conditional requests")
def _(c, p):
    etag = get(p, "cli", "dir/a.bin").header("ETag")
    modified = get(p, "cli", "dir/a.bin").header("Last-Modified")
    for headers, want in (({"If-None-Match": etag}, 304), ({"If-None-Match": '"other"'}, 200),
                          ({"If-None-Match": "*"}, 304), ({"If-Match": etag}, 200),
                          ({"If-Match": '"other"'}, 412), ({"If-Modified-Since": modified}, 304),
                          ({"If-Unmodified-Since": modified}, 200)):
        r = get(p, "cli", "dir/a.bin", headers)
        equal(r.status, want, str(headers))
        if want != 412:
            equal(r.body, ABC if want == 200 else b"", f"body for {headers}")
    equal(get(p, "cli", "range", {"Range": "bytes=0-9", "If-Range": '"other"'}).status, 200,
          "If-Range of another version: all of it")


@case("SDK: rename, wait by status; the objects are under the new name")
def _(c, p):
    create_bucket(p, "before")
    for i in range(30):
        put(p, "before", f"o{i}", b"%d" % i)
    r = ask(p, "POST", "/v1/buckets/before?bck_to=ais%2F%40%23%2Fafter%2F&provider=ais",
            act("move-bck"))
    job_done(p, new_job(r), "move-bck")
    equal(len(list_all(p, "after")), 30, "listed")
    for i in range(30):
        equal(get(p, "after", f"o{i}").body, b"%d" % i, f"o{i}")
    equal(ask(p, "HEAD", "/v1/buckets/before?provider=ais").status, 404, "the old name")
    put(p, "after", "new", ABC)
    create_bucket(p, "before")
    equal(list_all(p, "before"), [], "a new bucket of the old name is empty")
    r = ask(p, "POST", "/v1/buckets/before?bck_to=ais%2F%40%23%2Fafter%2F&provider=ais",
            act("move-bck"))
    equal((r.status, r.error()["tcode"]), (400, "ErrBucketAlreadyExists"), "onto another")


@case("names that need care keep their bytes")
def _(c, p):
    create_bucket(p, "names")
    odd = ["a b", "a+b", "a%25b", "a%b", "a?b=c", "a#b", "a\\b", "你好", "x//y", 'q"u<o>t&e;', "d/e",
           "d", "tab\there", "line\nbreak", "n" * 1024, "d/" + "m" * 255 + "/" + "k" * 300]
    for name in odd:
        put(p, "names", name, name.encode())
    for name in odd:
        r = get(p, "names", name)
        equal((r.status, r.body), (200, name.encode()), repr(name[:40]))
    equal([e["name"] for e in list_all(p, "names", pagesize=3)],
          sorted(odd, key=lambda n: n.encode()), "listed in the order of their bytes")


@case("an object request at a target that no gateway sent is 403")
def _(c, p):
    for port in c.targets().values():
        for method, body in (("GET", None), ("HEAD", None), ("PUT", ABC), ("DELETE", None),
                             ("PATCH", act("", "", {"a": "b"}))):
            r = ask(port, method, "/v1/objects/cli/dir/a.bin?provider=ais", body)
            equal(r.status, 403, method)
    equal(get(p, "cli", "dir/a.bin").body, ABC, "nothing changed")


@case("a redirect that was tampered with is refused")
def _(c, p):
    location = ask(p, "GET", "/v1/objects/cli/dir/a.bin?provider=ais").header("Location")
    to = urllib.parse.urlsplit(location)
    path = f"{to.path}?{to.query}"
    equal(ask(to.port, "GET", path).status, 200, "as it was")
    for bad in (path.replace("a.bin", "b.bin"), path.replace("&u2=", "&u2=A"),
                path.replace("&u=", "&u=A")):
        if bad != path:
            equal(ask(to.port, "GET", bad).status, 401, "tampered")
    equal(ask(to.port, "DELETE", path).status, 401, "another method")


def main():
    with Cluster("sdk_wire", 18380) as cluster:
        fill(cluster.port, "cli")
        return case.run(cluster, cluster.port)


sys.exit(main())
