#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""No client, slow or greedy, harms another; each body is whole, or its connection tells."""

import contextlib
import hashlib
import os
import random
import select
import socket
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "client"))
# pylint: disable=wrong-import-position
from harness import LONG, Cases, Cluster, Mismatch, ask, equal, true, wait_for
from hostile import FORK, NOISE_S, Node, Server, connect, p99
from rawhttp import Conn, head, length, path_of

PORT = 18660
MIB = 1 << 20
GIB = 1 << 30
BULK = 4 * GIB if LONG else GIB
HUGE = 5 * GIB if LONG else 256 * MIB
SIZES = [0, 1, 16383, 16384, 16385, 32767, 32768, 32769, 65535, 65536, 65537, 131071, 131072,
         131073, 2 * MIB]
SMALL_CLIENTS = 100
OVERWRITES = 50 if LONG else 12
REFUSALS = 500 if LONG else 50
IDLE_S = 55 if LONG else 3
LOADED_S = 60 if LONG else 8
case = Cases()


def work(job, *args):
    """Clients stand for other machines: they get the CPU that the node leaves them."""
    os.nice(19)
    job(*args)


@contextlib.contextmanager
def crew(*jobs):
    """Processes that work until the with-block ends: each is given an event to end at."""
    stop = FORK.Event()
    children = [FORK.Process(target=work, args=(job, stop, *args), daemon=True)
                for job, *args in jobs]
    for c in children:
        c.start()
    try:
        yield children
    finally:
        stop.set()
        for c in children:
            c.join()
    equal([c.exitcode for c in children], [0] * len(children), "exit statuses of clients")


# ---- a greedy client (P-08)

def download(stop, server, name, size):
    """All of it, over and over."""
    url, sink = server.url("GET", name), bytearray(MIB)
    while not stop.is_set():
        port, target = url.get()
        with Conn(port, 60) as c:
            c.request("GET", target)
            equal(c.head().status, 200, "status")
            left = size - len(c.buffer)
            while left and not stop.is_set():
                n = c.socket.recv_into(sink)
                true(n, "the body is whole")
                left -= n


def small_ones(server, rounds):
    """Times of requests for 1 KiB, on many connections at once."""
    port, target = server.url("GET", "small").get()
    conns, times = {}, []
    poll = select.poll()
    text = head("GET", target)
    for _ in range(SMALL_CLIENTS):
        c = Conn(port)
        conns[c.socket.fileno()] = [c, rounds, 0.0]
        poll.register(c.socket, select.POLLIN)

    def send(state):
        state[2] = time.perf_counter()
        state[0].send(text)
    for state in conns.values():
        send(state)
    while conns:
        for fd, _ in poll.poll(60000) or [(None, 0)]:
            true(fd is not None, "an answer within a minute")
            state = conns[fd]
            r = state[0].response()
            times.append(time.perf_counter() - state[2])
            equal((r.status, len(r.body)), (200, 1024), "a small one")
            state[1] -= 1
            if state[1]:
                send(state)
            else:
                poll.unregister(fd)
                conns.pop(fd)[0].socket.close()
    return times


@case(f"one downloads {BULK // GIB} GiB, {SMALL_CLIENTS} fetch 1 KiB: p99 within 10 times idle")
def greedy(server):
    server.put("bulk", BULK)
    idle = p99(small_ones(server, 20))
    with crew((download, server, "bulk", BULK)):
        loaded = p99(small_ones(server, 50))
    print(f"# p99 idle {idle * 1000:.1f} ms, beside the download {loaded * 1000:.1f}", flush=True)
    true(loaded <= max(10 * idle, NOISE_S), f"p99 {loaded:.4f} s, idle {idle:.4f}")


# ---- versions (P-06)

def whole(c, slowly):
    """Read a response; ETag and digest of its body."""
    r = c.head()
    equal(r.status, 200, "status")
    left, digest = int(r.header("Content-Length")), hashlib.sha256()
    while left:
        piece = c.take(min(left, 256 << 10))
        digest.update(piece)
        left -= len(piece)
        if slowly:
            select.select([], [], [], 0.0005)
    return r.header("ETag"), digest.hexdigest()


def read_on(stop, server, known, queue):
    """GETs with a small window: what was got, until told to stop, or the object is gone."""
    url = server.url("GET", "versions")
    while not stop.is_set():
        port, target = url.get()
        with connect(port, rcvbuf=65536) as c:
            c.request("GET", target)
            if known.is_set():  # deleted meanwhile: what has begun is still whole
                queue.put(("last", *whole(c, True)) if c.more() and b" 200 " in c.buffer[:20]
                          else ("gone", c.head().status, ""))
                return
            queue.put(("got", *whole(c, True)))


@case(f"overwritten {OVERWRITES} times and deleted during slow GETs of 64 MiB: one whole version")
def versions(server):
    size = 64 * MIB
    digests, etags = {}, set()

    def overwrite(i):
        byte = bytes([i + 1])
        server.put("versions", size, byte)
        port, target = server.url("HEAD", "versions").get()
        etag = ask(port, "HEAD", target).header("ETag")
        digests[etag] = hashlib.sha256(byte * size).hexdigest()
        etags.add(etag)
    overwrite(0)
    known, queue, seen = FORK.Event(), FORK.SimpleQueue(), []
    with crew(*[(read_on, server, known, queue)] * 4):
        for i in range(1, OVERWRITES + 1):
            overwrite(i)
            while not queue.empty():
                seen.append(queue.get())
        port, target = server.url("DELETE", "versions").get()
        with connect(port, rcvbuf=65536) as c:
            get_port, get_target = server.url("GET", "versions").get()
            equal(get_port, port, "one target")
            c.request("GET", get_target)
            c.more(1)
            known.set()
            equal(ask(port, "DELETE", target).status, 200, "DELETE")
            seen.append(("across the deletion", *whole(c, False)))
    while not queue.empty():
        seen.append(queue.get())
    equal(len(etags), OVERWRITES + 1, "ETags differ")
    true(len([s for s in seen if s[0] == "got"]) >= 4, f"enough was read: {len(seen)}")
    for what, etag, digest in seen:
        if what == "gone":
            equal(etag, 404, "status after the deletion")
        else:
            equal(digests.get(etag), digest, f"body of {etag}, {what}")
    print(f"# {len(seen)} bodies of {len({s[1] for s in seen})} versions", flush=True)


def blob_of(node, size):
    """The one file of that size below the mountpaths."""
    found = []
    for folder, _, files in os.walk(node.folder):
        for f in files:
            path = os.path.join(folder, f)
            if f"{os.sep}blob" in folder and os.path.getsize(path) == size:
                found.append(path)
    equal(len(found), 1, f"blobs of {size} bytes")
    return found[0]


@case("a blob that is shortened behind the server: the connection ends, one line, one more counted")
def shortened(server):
    size = 64 * MIB + 4321
    server.put("short", size)
    node, path = server.target, blob_of(server.target, size)
    short, lines = node.counter("pagewire_short_bodies_total"), len(node.log_lines("body_short"))
    port, target = server.url("GET", "short").get()
    with Conn(port) as c:
        c.request("GET", target)
        equal(c.head().status, 200, "status")
        os.truncate(path, size // 2)
        got, begin = len(c.buffer), time.monotonic()
        while piece := c.socket.recv(MIB):
            got += len(piece)
        took = time.monotonic() - begin
    true(got < size, f"{got} bytes of {size}")
    true(took < 1, f"it took {took:.2f} s to end")
    equal(node.counter("pagewire_short_bodies_total") - short, 1, "counted")
    equal(len(node.log_lines("body_short")) - lines, 1, "lines")
    cpu = node.cpu_s()
    select.select([], [], [], 1)
    true(node.cpu_s() - cpu < 0.3, f"idle afterwards: {node.cpu_s() - cpu} s in a second")
    port, target = server.url("GET", "short").get()
    status = ask(port, "GET", target).status
    true(status >= 500, f"asked for again: {status}")


# ---- sizes (P-05)

def fill(name, size):
    return hashlib.sha256(name.encode()).digest()[:1] if size <= 2 * MIB else b"\0"


def read_sizes(stop, server, sizes):
    """Each object on one connection with a small window, each body hashed."""
    del stop
    with connect(server.target.port, rcvbuf=4096, timeout=600) as c:
        for size in sizes:
            name = f"size-{size}"
            _, target = server.url("GET", name).get()
            c.request("GET", target)
            _, digest = whole(c, False)
            want, left = hashlib.sha256(), size
            while left:
                n = min(left, MIB)
                want.update(fill(name, size) * n)
                left -= n
            equal(digest, want.hexdigest(), f"{size} bytes")
        equal(c.buffer, b"", "bytes behind the last body")


@case("all sizes, 8 readers with receive buffers of 4 KiB, every body exact")
def sizes(server):
    for size in SIZES:
        server.put(f"size-{size}", size, fill(f"size-{size}", size))
    with crew(*[(read_sizes, server, random.sample(SIZES, len(SIZES))) for _ in range(8)]) as kids:
        for k in kids:
            k.join(300)


@case(f"{HUGE // MIB} MiB to a reader with a receive buffer of 4 KiB, and a small one behind it")
def huge(server):
    server.put(f"size-{HUGE}", HUGE)
    with crew((read_sizes, server, [HUGE, 1])) as kids:
        kids[0].join(1500)


# ---- keep-alive (P-22)

@case(f"20 connections, idle for {IDLE_S} s, then used 100 times: no error")
def pool(server):
    port, target = server.url("GET", "small").get()
    conns = [Conn(port) for _ in range(20)]
    for c in conns:
        equal(c.ask("GET", target).status, 200, "first use")
    ready = select.select([c.socket for c in conns], [], [], IDLE_S)[0]
    equal(ready, [], "connections that ended meanwhile")
    port, target = server.url("GET", "small").get()
    for _ in range(100):
        for c in conns:
            equal(c.ask("GET", target).status, 200, "use after idling")
    for c in conns:
        c.socket.close()


@case("an idle connection ends by FIN, at its time")
def idle_end(_server):
    with Cluster("idle", PORT + 20, "--targets", "1", "--mountpaths", "1",
                 "--set", "http.keepalive_idle=1s") as other:
        with Conn(other.port) as c:
            equal(c.ask("GET", "/v1/health").status, 200, "status")
            begin = time.monotonic()
            true(c.ended(), "FIN, no reset")
            took = time.monotonic() - begin
        true(0.9 < took < 3, f"after {took:.1f} s")


def until_stopped(stop, server, queue):
    """Requests on kept connections until nobody listens; partial answers are the failure."""
    del stop
    url, n = server.url("GET", "middle"), 0
    port, target = url.get()
    c = None
    while True:
        try:
            c = c or Conn(port)
            c.request("GET", target)
            if not c.more():
                raise ConnectionResetError("refused: closed before it answered")
        except OSError:  # nothing of an answer has come: a clean refusal
            with contextlib.suppress(OSError):
                c = Conn(port)
                continue
            break
        r = c.response()
        true(r.status == 200 and len(r.body) == MIB, f"{r.status}, {len(r.body)} bytes")
        n += 1
        if r.header("Connection") == "close":
            c.socket.close()
            c = None
    queue.put(n)


@case("a target that stops under load: whole answers or clean refusals")
def stop_under_load(server):
    server.put("middle", MIB)
    queue = FORK.SimpleQueue()
    with crew(*[(until_stopped, server, queue)] * 8):
        begin = time.monotonic()
        select.select([], [], [], 0.5)  # of load
        server.cluster.verb("stop", "t1")
        took = time.monotonic() - begin
    answers = sum(queue.get() for _ in range(8))
    print(f"# {answers} answers, stopped in {took:.1f} s", flush=True)
    server.cluster.verb("start", "t1")
    server.target = Node(server.cluster, "t1")


# ---- early answers (P-09)

@case(f"100 MiB, refused {REFUSALS} times: the client always reads the whole answer")
def refused(server):
    size, piece = 100 * MIB, bytes(MIB)
    port = server.target.port
    for i in range(REFUSALS):
        with connect(port) as c:
            c.send(head("PUT", path_of(server.BUCKET, "unsigned"), length(size)))
            for _ in range(size // MIB):
                c.send(piece)
            r = c.response()
        equal(r.status, 403, f"refusal {i}")
        true(r.json()["message"], "a message")


@case("too long a body, with Expect: refused before it is sent, and the connection ends in order")
def too_long(server):
    framing = length(1 << 62)
    port, target = server.url("PUT", "long", framing).get()
    with connect(port) as c:
        c.send(head("PUT", target, framing, [("Expect", "100-continue")]))
        r = c.response()
        equal((r.status, r.interim), (413, []), "answer")
        true(c.ended(), "it ends")


# ---- the control plane (P-49)

def upload(stop, server, name):
    size = 64 * MIB
    url, piece = server.url("PUT", name, length(size)), bytes(MIB)
    while not stop.is_set():
        port, target = url.get()
        with connect(port, "127.0.0.1") as c:
            c.send(head("PUT", target, length(size)))
            for _ in range(size // MIB):
                c.send(piece)
            equal(c.response().status, 200, "PUT under load")


@case(f"health in under 0.1 s for {LOADED_S} s beside 32 downloads and 32 uploads of 64 MiB")
def control(server):
    server.put("load", 64 * MIB)
    ports = {"target control": server.target.control, "gateway control": server.front.control,
             "gateway": server.front.port}
    smap = ask(server.gateway, "GET", "/v1/daemon?what=smap").json()["version"]
    times = {what: [] for what in ports}
    jobs = [(download, server, "load", 64 * MIB)] * 32
    jobs += [(upload, server, f"load-{i}") for i in range(32)]
    with crew(*jobs):
        until = time.monotonic() + LOADED_S
        while time.monotonic() < until:
            for what, port in ports.items():
                begin = time.perf_counter()
                equal(ask(port, "GET", "/v1/health").status, 200, "health")
                times[what].append(time.perf_counter() - begin)
        begin = time.perf_counter()
        server.target.alive()  # behind the data, on the listener that is saturated
        print(f"# health, target public: {(time.perf_counter() - begin) * 1000:.0f} ms")
    for what, values in times.items():
        print(f"# health, {what}: p99 {p99(values) * 1000:.1f} ms of {len(values)}", flush=True)
        true(p99(values) < 0.1, f"{what}: p99 {p99(values):.3f} s")
    now = ask(server.gateway, "GET", "/v1/daemon?what=smap").json()["version"]
    equal(now, smap, "version of the cluster map")


@case("no error was logged but that of the shortened blob, and all nodes are alive")
def quiet(server):
    for node in (server.target, server.front):
        node.alive()
        wait_for(lambda n=node: n.fds() < 200, 30, "descriptors are given back")
    bad = [line for line in server.target.errors() if "short" not in line]
    if bad or server.front.errors():
        raise Mismatch(f"{bad} {server.front.errors()}")


def main():
    with Cluster("fairness", PORT, "--targets", "1", "--mountpaths", "1",
                 "--set", "http.body_timeout=20s") as cluster:
        return case.run(Server(cluster))


if __name__ == "__main__":
    socket.setdefaulttimeout(60)
    sys.exit(main())
