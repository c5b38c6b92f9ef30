#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Conditional requests and ranges, each row of their tables."""

import email.utils
import itertools
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from harness import Cases, Cluster, act, ask, create_bucket, equal, get, put, true
from rawhttp import Conn, checksum, path_of, signed

case = Cases()
DATA = bytes(range(100))


def date(seconds):
    return email.utils.formatdate(seconds, usegmt=True)


def conditions(tag, modified):
    """Each header with each of its values: (header, value, does it hold?)."""
    match = [None, (tag, True), ('"other"', False), ("*", True), (f'"x", {tag}', True)]
    none = [None, (tag, False), ('"other"', True), ("*", False), (f'"x" , W/{tag}', False)]
    unmodified = [None, (date(modified), True), (date(modified + 60), True),
                  (date(modified - 60), False), ("yesterday", None)]
    since = [None, (date(modified - 60), True), (date(modified), False),
             (date(modified + 60), False), ("31 Feb", None)]
    for row in itertools.product(match, unmodified, none, since):
        yield [(n, *v) for n, v in zip(("If-Match", "If-Unmodified-Since", "If-None-Match",
                                        "If-Modified-Since"), row) if v]


def expected(row):
    """RFC 9110, 13.2.2."""
    holds = {name: held for name, _, held in row if held is not None}
    if "If-Match" in holds:
        if not holds["If-Match"]:
            return 412
    elif holds.get("If-Unmodified-Since") is False:
        return 412
    if "If-None-Match" in holds:
        return 200 if holds["If-None-Match"] else 304
    return 304 if holds.get("If-Modified-Since") is False else 200


def table(p, method, name, missing):
    r = get(p, "cond", "o")
    tag = r.header("ETag")
    modified = email.utils.parsedate_to_datetime(r.header("Last-Modified")).timestamp()
    port, target = signed(p, method, path_of("cond", name))
    rows = 0
    with Conn(port) as c:  # one connection: after each answer it must still be in step
        for row in conditions(tag, int(modified)):
            r = c.ask(method, target, [(n, v) for n, v, _ in row])
            want = 404 if missing else expected(row)
            equal(r.status, want, f"{method} {row}")
            if want in (200, 304):
                equal(r.header("ETag"), tag, f"ETag of {want}")
            if method == "GET" and want == 200:
                equal(r.body, DATA, "body")
            rows += 1
    equal(rows, 625, "rows")


@case("conditional GET, each combination, on one connection")
def _(p):
    table(p, "GET", "o", False)


@case("conditional HEAD, each combination, on one connection")
def _(p):
    table(p, "HEAD", "o", False)


@case("a missing object is 404 whatever the condition")
def _(p):
    table(p, "GET", "missing", True)
    table(p, "HEAD", "missing", True)


@case("If-Match compares strongly; 304 has no body and no length that promises one")
def _(p):
    tag = get(p, "cond", "o").header("ETag")
    equal(get(p, "cond", "o", {"If-Match": f"W/{tag}"}).status, 412, "weak tag")
    port, target = signed(p, "GET", path_of("cond", "o"))
    with Conn(port) as c:
        for _ in range(100):
            c.request("GET", target, [("If-None-Match", tag)])
            c.request("GET", target)
            first, second = c.response(), c.response()
            equal((first.status, second.status, second.body), (304, 200, DATA), "304, then 200")


@case("overwritten: the old tag no longer matches")
def _(p):
    put(p, "cond", "over", b"old")
    tag = get(p, "cond", "over").header("ETag")
    put(p, "cond", "over", b"new")
    r = get(p, "cond", "over", {"If-None-Match": tag})
    equal((r.status, r.body), (200, b"new"), "If-None-Match")
    equal(get(p, "cond", "over", {"If-Match": tag}).status, 412, "If-Match")


RANGES = [  # range, (first, last) of 100 bytes or a refusal: is its start past the end?
    ("bytes=0-0", (0, 0)), ("bytes=0-", (0, 99)), ("bytes=5-9", (5, 9)), ("bytes=99-", (99, 99)),
    ("bytes=99-99", (99, 99)), ("bytes=-5", (95, 99)), ("bytes=-100", (0, 99)),
    ("bytes=-500", (0, 99)), ("bytes=0-109", (0, 99)), ("bytes=50-99999999999999999999", (50, 99)),
    ("bytes= 1-2", (1, 2)), ("bytes=1-2,", (1, 2)), ("Bytes=3-4", (3, 4)),
    ("bytes=100-", True), ("bytes=100-200", True), ("bytes=99999999999999999999-", True),
    ("bytes=5-2", False), ("bytes=abc", False), ("bytes=a-b", False), ("chars=1-2", False),
    ("bytes=-", False), ("bytes=", False), ("bytes", False), ("1-2", False), ("bytes=--5", False),
    ("bytes=1-2,4-5", False), ("bytes=0-0,-1", False), ("bytes=+1-2", False), ("bytes=1-2x", False),
    ("bytes=0x1-2", False), ("bytes=1", False),
]


def check_range(c, target, data, text, want):
    r = c.ask("GET", target, [("Range", text)])
    if isinstance(want, tuple):
        first, last = want
        equal((r.status, r.body), (206, data[first:last + 1]), text)
        equal(r.header("Content-Range"), f"bytes {first}-{last}/{len(data)}", text)
        equal(r.header("Content-Length"), str(last - first + 1), text)
        equal(r.header("Accept-Ranges"), "bytes", text)
        equal(r.header("Ais-Checksum-Value"), checksum("xxhash2", data), "the whole object's")
        return
    equal((r.status, r.error()["tcode"]), (416, "ErrRangeNotSatisfiable"), text)
    equal(r.error()["status"], 416, "status in the body")
    equal(r.header("Content-Range"), f"bytes */{len(data)}" if want else None, text)


@case("ranges: suffixes, ends beyond the size, refusals; on one connection")
def _(p):
    port, target = signed(p, "GET", path_of("cond", "o"))
    with Conn(port) as c:
        for text, want in RANGES:
            check_range(c, target, DATA, text, want)
            equal(c.ask("GET", target).body, DATA, f"after {text}")
        r = c.ask("GET", target, [("Range", "bytes=-0")])
        equal(r.status, 416, "bytes=-0")


@case("ranges of one byte and of none")
def _(p):
    put(p, "cond", "one", b"x")
    put(p, "cond", "none", b"")
    port, target = signed(p, "GET", path_of("cond", "one"))
    with Conn(port) as c:
        for text in ("bytes=0-0", "bytes=0-", "bytes=-1", "bytes=-7", "bytes=0-7"):
            check_range(c, target, b"x", text, (0, 0))
        check_range(c, target, b"x", "bytes=1-", True)
    port, target = signed(p, "GET", path_of("cond", "none"))
    with Conn(port) as c:
        for text in ("bytes=0-0", "bytes=0-", "bytes=1-", "bytes=-1"):
            check_range(c, target, b"", text, True)
        equal((c.ask("GET", target).status, c.ask("HEAD", target).status), (200, 401), "in step")


@case("ranges of a large object, across the sizes where paths change")
def _(p):
    data = b"".join(i.to_bytes(4, "big") for i in range(65536))
    put(p, "cond", "large", data)
    port, target = signed(p, "GET", path_of("cond", "large"))
    with Conn(port) as c:
        for first in (0, 1, 4095, 4097, 32768, 131071, len(data) - 1):
            for size in (1, 2, 32767, 32768, 32769, 65537, len(data)):
                last = min(first + size, len(data)) - 1
                r = c.ask("GET", target, [("Range", f"bytes={first}-{last}")])
                equal((r.status, r.body == data[first:last + 1]), (206, True), f"{first}-{last}")


@case("If-Range: the range of this version, else the whole; conditions come first")
def _(p):
    r = get(p, "cond", "o")
    tag, when = r.header("ETag"), r.header("Last-Modified")
    for value, status in ((tag, 206), (when, 206), ('"other"', 200), (f"W/{tag}", 200),
                          ("Thu, 01 Jan 1970 00:00:00 GMT", 200), ("garbage", 200)):
        r = get(p, "cond", "o", {"Range": "bytes=1-2", "If-Range": value})
        equal((r.status, r.body), (206, DATA[1:3]) if status == 206 else (200, DATA), value)
    equal(get(p, "cond", "o", {"Range": "bytes=1-2", "If-None-Match": tag}).status, 304, "304")
    equal(get(p, "cond", "o", {"Range": "bytes=500-", "If-Match": '"x"'}).status, 412, "412")


@case("enable_read_range: the checksum is the range's")
def _(p):
    props = {"checksum": {"type": "md5", "enable_read_range": True}}
    equal(ask(p, "POST", "/v1/buckets/rr?provider=ais", act("create-bck", "", props)).status, 200,
          "create")
    data = bytes(range(256)) * 20000  # more than is kept in memory
    put(p, "rr", "o", data)
    for first, last in ((0, 0), (7, 1000), (1, len(data) - 1)):
        r = get(p, "rr", "o", {"Range": f"bytes={first}-{last}"})
        part = data[first:last + 1]
        equal((r.status, r.body == part), (206, True), f"{first}-{last}")
        equal(r.header("Ais-Checksum-Value"), checksum("md5", part), f"{first}-{last}")
    r = get(p, "rr", "o")
    equal(r.header("Ais-Checksum-Value"), checksum("md5", data), "of the whole")
    true(r.body == data, "whole body")


def main():
    with Cluster("conditions", 18480) as cluster:
        create_bucket(cluster.port, "cond")
        put(cluster.port, "cond", "o", DATA)
        return case.run(cluster.port)


sys.exit(main())
