#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Bodies on the wire: sizes and paths, slow readers, chunks, Expect, cuts, overwrites."""

import concurrent.futures
import hashlib
import json
import os
import random
import sys
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from harness import (LONG, Cases, Cluster, ask, contains, create_bucket, equal, get, list_all, put,
                     true, wait_for)
from rawhttp import CHUNKED, Conn, checksum, chunks, head, length, path_of, signed

case = Cases()
KIB, MIB = 1 << 10, 1 << 20
SIZES = (0, 1, 16383, 16384, 16385, 32767, 32768, 32769, 65535, 65536, 65537, 131071, 131072,
         131073, 2 * MIB)
LARGE = 64 * MIB
EXPLAIN = [("Pagewire-Explain", "1")]
EXPECT = [("Expect", "100-continue")]


def data_of(size, seed=0):
    return random.Random(size * 1000 + seed).randbytes(size)


def sha(data):
    return hashlib.sha256(data).hexdigest()


def decision(r):
    path, _, reason = r.header("Pagewire-Path", "").partition("; reason=")
    true(path and reason, f"Pagewire-Path {r.header('Pagewire-Path')!r}")
    return path, reason


def read_back(p, sizes, check):
    """Each twice on one connection a target: the next response must be intact too."""
    connections = {}
    for size in sizes:
        port, target = signed(p, "GET", path_of("wire", f"s{size}"))
        c = connections.setdefault(port, Conn(port))
        for headers in ((), EXPLAIN):
            r = c.ask("GET", target, headers)
            equal((r.status, len(r.body), sha(r.body)), (200, size, sha(data_of(size))), f"{size}")
        check(size, r)
    for c in connections.values():
        c.socket.close()


# ---- sizes and paths

@case("each size comes back, by the path that fits it")
def _(c, p):
    for size in (*SIZES, LARGE):
        put(p, "wire", f"s{size}", data_of(size))

    def check(size, r):
        equal(decision(r)[0], "small" if size <= 32 * KIB else "sendfile", f"path of {size}")
    read_back(p, (*SIZES, LARGE), check)
    r = ask(p, "GET", path_of("wire", "s1"), headers=dict(EXPLAIN))
    equal((r.status, r.header("Pagewire-Path")), (307, None), "redirects carry none")
    for port in c.targets().values():
        contains(ask(port, "GET", "/metrics").text, "pagewire_responses_total{", "/metrics")


@case("steering switched off: the same bytes by other paths")
def _(c, p):
    sizes = (*SIZES, LARGE)
    with Cluster("bodies_off", c.port + 20, "--targets", "1", "--set", "steer.sendfile=false",
                 "--set", "steer.small_max=0") as other:
        create_bucket(other.port, "wire")
        for size in sizes:
            put(other.port, "wire", f"s{size}", data_of(size))

        def check(size, r):
            path, reason = decision(r)
            true(path != "sendfile", f"path of {size}: {path}")
            if size:
                equal((path != "small", reason), (True, "policy"), f"{size}: {path}")
        read_back(other.port, sizes, check)
    equal(sha(get(p, "wire", "s1").body), sha(data_of(1)), "the first cluster goes on")


@case("eight slow readers with small buffers; the next response is intact")
def _(_c, p):
    sizes = (16385, 32769, 65537, 131073)

    def read(i):
        size = sizes[i % len(sizes)]
        port, target = signed(p, "GET", path_of("wire", f"s{size}"))
        with Conn(port, rcvbuf=4096) as c:
            for _ in range(2):
                c.request("GET", target)
                r = c.head()
                got = b""
                while len(got) < size:
                    got += c.take(min(1000, size - len(got)))
                equal((r.status, sha(got)), (200, sha(data_of(size))), f"reader {i}")
            equal(c.ask("HEAD", target).status, 401, "a GET's signature is not HEAD's")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(read, range(8)))


@case("a reader with a small buffer gets 2 MiB while others are served")
def _(_c, p):
    port, target = signed(p, "GET", path_of("wire", f"s{2 * MIB}"))
    with Conn(port, rcvbuf=64 * KIB) as slow:
        slow.request("GET", target)
        for _ in range(50):
            equal(get(p, "wire", "s1").status, 200, "another")
        equal(sha(slow.response().body), sha(data_of(2 * MIB)), "the slow one")


# ---- bodies in

@case("chunked bodies: any cut, extensions and trailers")
def _(_c, p):
    data = data_of(100000)
    odd = b"5;name=value\r\nabcde\r\n000A;x=\"y\"\r\nfghijklmno\r\n0\r\nTrailer: x\r\n\r\n"
    bodies = [(chunks(data, 100000), data), (chunks(data, 1, 4096, 65536, 3), data),
              (chunks(data[:500], 1), data[:500]), (chunks(b"", 1), b""),
              (odd, b"abcdefghijklmno")]
    port, target = signed(p, "PUT", path_of("wire", "chunked"), CHUNKED)
    with Conn(port) as c:
        for body, want in bodies:
            r = c.ask("PUT", target, CHUNKED, body)
            equal((r.status, r.header("Ais-Checksum-Value")), (200, checksum("xxhash2", want)),
                  f"{len(body)}: {r.text}")
            equal(get(p, "wire", "chunked").body == want, True, "stored")
        ck = [("Ais-Checksum-Type", "xxhash"), ("Ais-Checksum-Value", checksum("xxhash", data))]
        equal(c.ask("PUT", target, CHUNKED + ck, chunks(data, 7000)).status, 200, "as aisloader")
        ck[1] = ("Ais-Checksum-Value", "0" * 16)
        equal(c.ask("PUT", target, CHUNKED + ck, chunks(data, 7000)).status, 400, "wrong checksum")


@case("chunked bodies that are broken are 400, nothing is stored, the connection ends")
def _(_c, p):
    port, target = signed(p, "PUT", path_of("wire", "broken"), CHUNKED)
    for body in (b"zz\r\nabc\r\n", b"3\r\nabcd\r\n", b"-1\r\n", b"ffffffffffffffffff\r\n", b"\r\n",
                 b"3\nabc\n0\n\n", b"3 3\r\nabc\r\n0\r\n\r\n"):
        with Conn(port) as c:
            r = c.ask("PUT", target, CHUNKED, body)
            equal(r.status, 400, f"{body}")
            true(c.ended(), f"{body}: the connection ends")
    equal(get(p, "wire", "broken").status, 404, "nothing stored")


@case("a body sent one byte at a time; a body behind its head in one segment")
def _(_c, p):
    data = data_of(300)
    port, target = signed(p, "PUT", path_of("wire", "drip"), length(300))
    with Conn(port) as c:
        for b in head("PUT", target, length(300)) + data:
            c.send(bytes([b]))
        equal(c.response().status, 200, "dripped")
        equal(c.ask("PUT", target, length(300), data).status, 200, "at once")
    equal(get(p, "wire", "drip").body, data, "stored")


# ---- Expect

@case("Expect at a target: 100 first, then the body, then the final status")
def _(_c, p):
    port, target = signed(p, "PUT", path_of("wire", "expect"), length(5))
    with Conn(port) as c:
        c.request("PUT", target, length(5) + EXPECT)
        equal(c.head().status, 100, "interim, before any byte of the body")
        c.send(b"hello")
        r = c.response()
        equal((r.interim, r.status), ([], 200), "final")
        r = c.ask("PUT", target, length(5) + EXPECT, b"again")  # not waited for
        true(r.interim in ([], [100]) and r.status == 200, f"{r.interim} {r.status}")
    equal(get(p, "wire", "expect").body, b"again", "stored")
    port, target = signed(p, "PUT", path_of("wire", "expect"), CHUNKED)
    with Conn(port) as c:
        c.request("PUT", target, CHUNKED + EXPECT)
        equal(c.head().status, 100, "chunked")
        c.send(chunks(b"third", 2))
        equal(c.response().status, 200, "final")


@case("Expect: alternate empty and 1 KiB PUTs on one connection, without a stall")
def _(c, p):
    rounds = 1000 if LONG else 200
    name = "expect2"
    port, small = signed(p, "PUT", path_of("wire", name), length(KIB))
    empty = signed(p, "PUT", path_of("wire", name), length(0))[1]
    slowest = 0
    with Conn(port) as c:
        for i in range(rounds):
            began = time.monotonic()
            n, target = (0, empty) if i % 2 else (KIB, small)
            c.request("PUT", target, length(n) + EXPECT)
            if n:
                equal(c.head().status, 100, "interim")
                c.send(b"k" * n)
            r = c.response()
            equal((r.interim, r.status), ([], 200), f"PUT {i} of {n} bytes")
            slowest = max(slowest, time.monotonic() - began)
    true(slowest < 0.5, f"slowest took {slowest:.2f} s")


@case("Expect refused: the final status without an interim one, nothing is read")
def _(c, p):
    target_port = next(iter(c.targets().values()))
    for port, path, status in ((p, path_of("nobucket", "o"), 404), (p, path_of("wire", "o"), 307),
                               (p, path_of("wire", "a/../o"), 400),
                               (target_port, path_of("wire", "o"), 403)):
        with Conn(port) as conn:
            conn.request("PUT", path, length(100 * MIB) + EXPECT)
            r = conn.response()
            equal((r.interim, r.status), ([], status), f"{path} at {port}")
    with Conn(p) as conn:
        r = conn.ask("PUT", path_of("wire", "o"), length(5) + [("Expect", "a-miracle")])
        equal(r.status, 417, "unknown expectation")


# ---- answers before the body was read

def put_all_then_read(port, path, size, framing=None):
    """As simple clients do: everything is sent before anything is read."""
    piece = bytes(MIB)
    with Conn(port, timeout=60) as c:
        c.request("PUT", path, framing or length(size))
        for _ in range(size // MIB):
            c.send(piece if not framing else b"100000\r\n" + piece + b"\r\n")
        if framing:
            c.send(b"0\r\n\r\n")
        return c.response()


@case("a refused or redirected body of 100 MiB: the whole answer is read")
def _(c, p):
    target_port = next(iter(c.targets().values()))
    for _ in range(20 if LONG else 2):
        for framing in (None, CHUNKED):
            r = put_all_then_read(p, path_of("nobucket", "o"), 100 * MIB, framing)
            equal((r.status, r.error()["tcode"]), (404, "ErrBckNotFound"), "missing bucket")
            r = put_all_then_read(p, path_of("wire", "o"), 100 * MIB, framing)
            equal((r.status, r.body), (307, b""), "redirect")
            r = put_all_then_read(target_port, path_of("wire", "o"), 100 * MIB, framing)
            equal((r.status, r.error()["status"]), (403, 403), "unmarked, at a target")
        port, target = signed(p, "PUT", path_of("wire", "o"), length(100 * MIB),
                              [("Ais-Custom-Md", "noequal")])
        with Conn(port, timeout=60) as conn:
            conn.request("PUT", target, length(100 * MIB) + [("Ais-Custom-Md", "noequal")])
            for _ in range(100):
                conn.send(bytes(MIB))
            equal(conn.response().status, 400, "bad metadata, at a target")
    equal(get(p, "wire", "o").status, 404, "nothing stored")


@case("a body at the gateway: 307 comes before the body does")
def _(_c, p):
    with Conn(p) as c:
        c.request("PUT", path_of("wire", "o"), length(10 * MIB))
        equal(c.response().status, 307, "at once")
        for _ in range(10):
            c.send(bytes(MIB))
        # what follows a discarded body is a request again, or the connection has ended in order
        try:
            c.request("GET", "/v1/health")
            r = c.response()
            equal(r.status, 200, "next request")
        except (ConnectionError, BrokenPipeError):
            pass


# ---- pipelining

@case("pipelined requests are answered in order")
def _(_c, p):
    size = 131073
    port, big = signed(p, "GET", path_of("wire", f"s{size}"))
    with Conn(port) as c:
        c.send(head("GET", big) + head("GET", big, [("Range", "bytes=0-9")]) +
               head("GET", "/v1/nothing") + head("GET", big) + head("GET", "/v1/health"))
        answers = [c.response() for _ in range(5)]
        equal([r.status for r in answers], [200, 206, 400, 200, 200], "statuses")
        data = data_of(size)
        equal([r.body == w for r, w in zip(answers, (data, data[:10]))], [True] * 2, "bodies")
        equal(sha(answers[3].body), sha(data), "fourth")
    port, put_url = signed(p, "PUT", path_of("wire", "pipe"), length(4))
    with Conn(port) as c:
        c.send(b"".join(head("PUT", put_url, length(4)) + b"%04d" % i for i in range(50)))
        equal([c.response().header("Ais-Version") for _ in range(50)],
              [str(i + 1) for i in range(50)], "versions")
    equal(get(p, "wire", "pipe").body, b"0049", "the last one")
    port, url = signed(p, "HEAD", path_of("wire", "pipe"))
    get_url = signed(p, "GET", path_of("wire", "pipe"))[1]
    with Conn(port) as c:
        c.send((head("HEAD", url) + head("GET", get_url)) * 10)
        for _ in range(10):
            equal(c.response("HEAD").header("Content-Length"), "4", "HEAD")
            equal(c.response().body, b"0049", "GET")


@case("Connection: close and HTTP/1.0 are honoured")
def _(_c, p):
    port, target = signed(p, "GET", path_of("wire", "s65537"))
    for text in (head("GET", target, [("Connection", "close")]),
                 head("GET", target).replace(b"HTTP/1.1", b"HTTP/1.0", 1)):
        with Conn(port) as c:
            c.send(text)
            r = c.response()
            equal((r.status, sha(r.body)), (200, sha(data_of(65537))), "GET")
            equal((r.header("Connection") or "").lower(), "close", "Connection")
            true(c.ended(), "the connection ends")


# ---- cuts

def files(c):
    """Every file in the mountpaths but the index."""
    return sorted(os.path.join(folder, f) for n in c.nodes() if n["role"] == "target"
                  for folder, _, names in os.walk(os.path.join(c.dir, n["node"])) for f in names
                  if "/mp" in folder and "/meta" not in folder)


@case("half a PUT stores nothing and leaves nothing")
def _(c, p):
    create_bucket(p, "half")
    put(p, "half", "old", b"old")
    before, data = files(c), data_of(3 * MIB)
    for name in ("old", "new"):
        for framing, body in ((length(len(data)), data), (CHUNKED, chunks(data, 100000))):
            port, target = signed(p, "PUT", path_of("half", name), framing)
            cuts = {0, 1, len(body) // 2, len(body) - len(body) // 1000, len(body) - 1}
            if framing == CHUNKED:
                cuts |= {len(body) - 2, len(body) - 5}  # of the last chunk
            for cut in sorted(cuts):
                for end in ("FIN", "RST", "shutdown"):
                    conn = Conn(port)
                    conn.request("PUT", target, framing, body[:cut])
                    if end == "RST":
                        conn.reset()
                    elif end == "shutdown":
                        conn.socket.shutdown(1)
                        conn.buffer = b""
                        rest = b"".join(iter(lambda s=conn.socket: s.recv(65536), b""))
                        true(b" 200 " not in rest[:20], f"{name} cut at {cut}: {rest[:80]}")
                    conn.socket.close()
    equal(get(p, "half", "new").status, 404, "new")
    r = get(p, "half", "old")
    equal((r.body, r.header("Ais-Version")), (b"old", "1"), "old")
    equal([e["name"] for e in list_all(p, "half")], ["old"], "listed")
    wait_for(lambda: files(c) == before, 5, "files as before")


# ---- versions and readers

@case("overwritten while it is read: one whole version, of its own ETag")
def _(_c, p):
    bodies = [bytes([i]) * LARGE for i in range(2)]
    port, target = signed(p, "GET", path_of("wire", "over"))
    put(p, "wire", "over", bodies[0])
    of_tag = {get(p, "wire", "over").header("ETag"): 0}
    rounds = 50 if LONG else 6
    with Conn(port, timeout=60, rcvbuf=64 * KIB) as c:
        c.request("GET", target)
        r = c.head()
        got = [c.take(MIB)]
        for i in range(1, rounds + 1):
            tag = put(p, "wire", "over", bodies[i % 2]).header("ETag")
            of_tag[tag] = i % 2
            got.append(c.take(MIB))
        got.append(c.take(int(r.header("Content-Length")) - MIB * len(got)))
        equal(len(of_tag), rounds + 1, "each version has a tag of its own")
        true(b"".join(got) == bodies[0], "the first version, whole")
        equal(of_tag[r.header("ETag")], 0, "its tag")
        r = c.ask("GET", target)
        true(r.body == bodies[of_tag[r.header("ETag")]], "then the last, whole")


@case("deleted while it is read: the reader gets it all")
def _(_c, p):
    data = data_of(32 * MIB)
    put(p, "wire", "gone", data)
    port, target = signed(p, "GET", path_of("wire", "gone"))
    with Conn(port, rcvbuf=64 * KIB) as c:
        c.request("GET", target)
        r = c.head()
        port, url = signed(p, "DELETE", path_of("wire", "gone"))
        equal(ask(port, "DELETE", url).status, 200, "DELETE")
        equal(get(p, "wire", "gone").status, 404, "for others")
        equal(sha(c.take(int(r.header("Content-Length")))), sha(data), "body")
        equal(c.ask("GET", target).status, 404, "next on the connection")


@case("a blob that is shorter than its record: the connection ends, nothing is made up")
def _(c, p):
    for name, size in (("cut-small", 20000), ("cut-large", LARGE)):
        put(p, "wire", name, data_of(size))
        port, target = signed(p, "GET", path_of("wire", name))
        with Conn(port, rcvbuf=64 * KIB) as conn:
            conn.request("GET", target)
            first = conn.head() if size == LARGE else conn.response()
            blob = [f for f in files(c) if os.path.getsize(f) == size and
                    open(f, "rb").read(100) == data_of(size)[:100]]
            true(blob, "its file")
            for f in blob:
                os.truncate(f, size // 2)
            if size == LARGE:
                got = b"".join(iter(lambda s=conn.socket: s.recv(1 << 20), b""))
                got = conn.buffer + got
                true(len(got) <= size // 2 + MIB and got == data_of(size)[:len(got)], "no padding")
                equal(first.status, 200, "the head was sent before")
        with Conn(port) as conn:
            conn.request("GET", target)
            r = conn.head()
            if r.status == 200:  # then the promise is broken by the end of the connection
                rest = conn.buffer + b"".join(iter(lambda s=conn.socket: s.recv(1 << 20), b""))
                true(len(rest) < size, f"{name}: {len(rest)} bytes of {size}")
            else:
                true(r.status >= 500, f"{name}: {r.status}")
        equal(get(p, "wire", "s1").body, data_of(1), "the target goes on")


@case("readers that vanish: the targets go on, their descriptors come back")
def _(c, p):
    pids = [n["pid"] for n in c.nodes() if n["role"] == "target"]

    def open_files():
        return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in pids)
    before = open_files()
    port, target = signed(p, "GET", path_of("wire", f"s{LARGE}"))
    for i in range(2000 if LONG else 200):
        conn = Conn(port)
        conn.request("GET", target)
        if i % 3:
            conn.more(1 + i * 997 % 65536)
        conn.reset()
    wait_for(lambda: open_files() <= before + 8, 10, "descriptors are back")
    equal([n["pid"] for n in c.nodes() if n["role"] == "target"], pids, "the same processes")
    for n in c.nodes():
        said = [line for line in c.verb("logs", n["node"]).splitlines() if " error " in line]
        equal([line for line in said if "short" not in line and "cut" not in line], [],
              f"errors in the log of {n['node']}")


@case("a JSON body on GET and DELETE is read past, the connection stays in step")
def _(_c, p):
    port, target = signed(p, "GET", path_of("wire", "s1"))
    body = json.dumps({"x": "y" * 5000}).encode()
    with Conn(port) as c:
        for _ in range(3):
            r = c.ask("GET", target, length(len(body)), body)
            true(r.status in (200, 401), f"GET with a body: {r.status}")
            equal(c.ask("GET", target).body, data_of(1), "after it")


def main():
    with Cluster("bodies", 18500) as cluster:
        create_bucket(cluster.port, "wire")
        return case.run(cluster, cluster.port)


sys.exit(main())
