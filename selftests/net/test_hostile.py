#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Clients that reset, stay silent, dribble or flood; another client, and the node, take no harm."""

import os
import select
import sys
import time
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "client"))
# pylint: disable=wrong-import-position
from harness import LONG, Cases, Cluster, act, ask, equal, true, wait_for
from hostile import FORK, Node, Server, connect, somewhere
from rawhttp import CHUNKED, head, length, path_of, signed

PORT = 18650
MIB = 1 << 20
LARGE = 100 * MIB
RESETS = 2000 if LONG else 300
SILENT = 5000
SLOW = 300
LIMIT_S = 3  # head and body time of this cluster
MEMORY = 16 * MIB  # http.max_memory of this cluster
KEPT = 24 * MIB  # what the allocator may keep of what it had
case = Cases()


class Held:
    """What a node held before, to be as before afterwards."""

    def __init__(self, node):
        self.node, self.fds, self.rss = node, node.fds(), node.rss()

    def same(self):
        wait_for(lambda: self.node.fds() <= self.fds, 60,
                 f"descriptors from {self.node.fds()} back to {self.fds}")
        now = self.node.rss()
        true(now <= self.rss + KEPT, f"memory back to {self.rss >> 10} KiB, is {now >> 10}")


def attackers(n, function):
    """They stand for other machines: they get the CPU that the node and its client leave them."""
    os.nice(19)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: function(), range(n)))


def many(n, function):
    child = FORK.Process(target=attackers, args=(n, function), daemon=True)
    child.start()
    child.join()
    equal(child.exitcode, 0, "exit status of the attackers")


def put_head(target, framing, *more):
    return head("PUT", target, list(framing), more)


# ---- peers that go away

@case(f"{RESETS} resets at random points of a GET of 100 MiB")
def reset_get(server):
    server.put("large", LARGE)
    url, held = server.url("GET", "large"), Held(server.target)
    before = server.target.counter("pagewire_aborted_requests_total")
    url.get()

    def one():
        port, target = url.get()
        c = connect(port)
        c.request("GET", target)
        equal(c.head().status, 200, "status")
        left = somewhere(LARGE * 6 // 10)  # the rest does not fit in socket buffers
        while left > 0:
            left -= len(c.socket.recv(min(left, MIB)))
        c.reset()
    with server.probe() as p:
        many(RESETS, one)
    wait_for(lambda: server.target.counter("pagewire_aborted_requests_total") - before >= RESETS,
             20, "aborted requests are counted")
    equal(server.target.counter("pagewire_aborted_requests_total") - before, RESETS, "aborted")
    held.same()
    server.unharmed(p, "resets of GET")


@case(f"{RESETS} resets at random points of a PUT of 100 MiB")
def reset_put(server):
    framing = length(LARGE)
    url, held = server.url("PUT", "never", framing), Held(server.target)
    before = server.target.counter("pagewire_aborted_requests_total")
    piece = bytes(MIB)
    url.get()

    def one():
        port, target = url.get()
        c = connect(port)
        c.send(put_head(target, framing, ("Expect", "100-continue")))
        equal(c.head().status, 100, "interim status")
        left = somewhere(LARGE // 8)
        while left > 0:
            c.send(piece[:left])
            left -= len(piece)
        c.reset()
    with server.probe() as p:
        many(RESETS, one)
    wait_for(lambda: server.target.counter("pagewire_aborted_requests_total") - before >= RESETS,
             60, "aborted requests are counted")
    equal(server.target.counter("pagewire_aborted_requests_total") - before, RESETS, "aborted")
    held.same()
    equal(ask(server.gateway, "HEAD", path_of(server.BUCKET, "never")).status, 307, "at gateway")
    url = server.url("GET", "never")
    port, target = url.get()
    equal(ask(port, "GET", target).status, 404, "nothing is stored")
    server.unharmed(p, "resets of PUT")


# ---- peers that do nothing

@case(f"{SILENT} connections that say nothing")
def silent(server):
    for node in (server.target, server.front):
        held = Held(node)
        idle = [connect(node.port) for _ in range(SILENT)]
        try:
            wait_for(lambda n=node, h=held: n.fds() >= h.fds + SILENT, 60, "all are accepted")
            with server.probe() as p:
                wait_for(lambda: not p.child.join(1), 20, "a second is over")
            grown = node.rss() - held.rss
            true(grown < SILENT * 4096, f"{grown // SILENT} bytes a silent connection")
        finally:
            for c in idle:
                c.socket.close()
        held.same()
        server.unharmed(p, f"silent at {node.name}")


def dribble(conns, piece):
    """A piece to each now and then, until the server has answered all; return the answers."""
    answers = {}
    poll = select.poll()
    by_fd = {c.socket.fileno(): c for c in conns}
    for fd in by_fd:
        poll.register(fd, select.POLLIN)
    until = time.monotonic() + 20 * LIMIT_S
    while len(answers) < len(by_fd):
        true(time.monotonic() < until, f"{len(by_fd) - len(answers)} are still open")
        for fd, _ in poll.poll(200):
            answers[fd] = by_fd[fd].head()
            poll.unregister(fd)
        for fd, c in by_fd.items():
            if fd not in answers:
                try:
                    c.send(piece)
                except OSError:
                    pass  # its answer is there
    return list(answers.values())


def slow(server, what, conns, piece):
    begin = time.monotonic()
    with server.probe() as p:
        for r in dribble(conns, piece):
            equal((r.status, r.header("Connection")), (408, "close"), what)
    took = time.monotonic() - begin
    true(took < 4 * LIMIT_S, f"{what}: {took:.1f} s with a limit of {LIMIT_S}")
    for c in conns:
        c.socket.close()
    server.unharmed(p, what)


@case(f"{SLOW} heads that come a byte at a time")
def slow_head(server):
    for node in (server.target, server.front):
        held = Held(node)
        conns = [connect(node.port) for _ in range(SLOW)]
        for c in conns:
            c.send(b"GET /v1/health HTTP/1.1\r\nHost: a\r\nA: ")
        slow(server, f"slow heads at {node.name}", conns, b"b")
        held.same()


@case(f"{SLOW} bodies that come a byte at a time")
def slow_body(server):
    held = Held(server.target)
    for framing, piece in ((length(LARGE), b"b"), (CHUNKED, b"1\r\nb\r\n")):
        port, target = server.url("PUT", "never", framing).get()
        conns = [connect(port) for _ in range(SLOW)]
        for c in conns:
            c.send(put_head(target, framing))
        slow(server, f"slow bodies, {framing[0][0]}", conns, piece)
        held.same()


@case("100 clients that do not read what they asked for")
def slow_reader(server):
    url, held = server.url("GET", "large"), Held(server.target)
    before = server.target.counter("pagewire_aborted_requests_total")
    port, target = url.get()
    conns = [connect(port, rcvbuf=4096) for _ in range(100)]
    for c in conns:
        c.request("GET", target)
    with server.probe() as p:
        wait_for(lambda: server.target.counter("pagewire_aborted_requests_total") - before >= 100,
                 10 * LIMIT_S, "all are closed")
    for c in conns:
        c.socket.close()
    held.same()
    server.unharmed(p, "clients that do not read")


# ---- peers that send too much

@case("1 MiB of headers, 100 times")
def large_heads(server):
    for node in (server.target, server.front):
        held = Held(node)

        def one(port=node.port):
            c = connect(port)
            try:
                c.send(b"GET /v1/health HTTP/1.1\r\nHost: a\r\n")
                for i in range(1024):
                    c.send(b"A%04d: " % i + b"b" * 1016 + b"\r\n")
            except OSError:
                pass  # refused before all was sent
            r = c.head()
            equal((r.status, r.header("Connection")), (431, "close"), "answer")
            c.socket.close()
        with server.probe() as p:
            many(100, one)
        held.same()
        server.unharmed(p, f"large heads at {node.name}")


@case("200 uploads that stall with 1 MiB in memory: a bound for all, and another upload goes on")
def stalled(server):
    framing = length(LARGE)
    port, target = server.url("PUT", "never", framing).get()
    held, conns = Held(server.target), []
    piece = bytes(MIB - 1)
    for i in range(200):
        c = connect(port)
        c.send(put_head(target, framing) + (b"%x\r\n" % MIB if i % 2 else b"") + piece)
        conns.append(c)
    begin = time.monotonic()
    server.put("meanwhile", 20 * MIB)
    took = time.monotonic() - begin
    grown = server.target.rss() - held.rss
    print(f"# upload of 20 MiB in {took:.2f} s, memory grown by {grown >> 20} MiB", flush=True)
    true(grown < MEMORY + 200 * 32768 + KEPT, f"memory grown by {grown >> 20} MiB")
    for c in conns:
        c.socket.close()
    held.same()


# ---- more than the node has room for

def one_of_many(port, framing, name):
    """Store an object; its status, with what a refusal must have."""
    where, target = signed(port, "PUT", path_of(Server.BUCKET, name), framing)
    r = ask(where, "PUT", target, name.encode())
    if r.status == 503:
        true(r.header("Retry-After"), f"Retry-After in {r.headers}")
    return r.status


@case("300 uploads at once to a node with room for 4: done or 503 with Retry-After, nothing else")
def overload(_server):
    sets = ("http.max_requests=4", "pool.io_threads=1", "pool.queue_max=1")
    with Cluster("overload", PORT + 20, "--targets", "1", "--mountpaths", "1",
                 *(word for s in sets for word in ("--set", s))) as other:
        node, bucket = Node(other, "t1"), f"/v1/buckets/{Server.BUCKET}?provider=ais"
        wait_for(lambda: ask(other.port, "POST", bucket, act("create-bck")).status in (200, 409),
                 20, "a bucket")
        names = [f"object-{i:03d}" for i in range(300)]
        with ThreadPoolExecutor(64) as pool:
            got = list(pool.map(lambda n: one_of_many(other.port, length(len(n)), n), names))
        equal(sorted(set(got) - {200, 503}), [], "other statuses")
        true(200 in got, "some are stored")
        for name, status in zip(names, got):
            if status == 200:
                where, target = signed(other.port, "GET", path_of(Server.BUCKET, name))
                equal(ask(where, "GET", target).text, name, "what was acknowledged")
        print(f"# {got.count(200)} stored, {got.count(503)} refused, "
              f"{node.counter('pagewire_refused_requests_total')} counted", flush=True)
        true(node.counter("pagewire_refused_requests_total") >= 1, "refusals are counted")
        node.alive()
        equal(node.errors(), [], "errors in its log")


# ---- afterwards

@case("no error was logged, and all nodes are alive")
def quiet(server):
    for node in (server.target, server.front):
        node.alive()
        equal(node.errors(), [], f"errors in the log of {node.name}")


def main():
    sets = [f"http.head_timeout={LIMIT_S}s", f"http.body_timeout={LIMIT_S}s",
            f"http.max_memory={MEMORY}"]
    with Cluster("hostile", PORT, "--targets", "1", "--mountpaths", "1",
                 *(word for s in sets for word in ("--set", s))) as cluster:
        return case.run(Server(cluster))


if __name__ == "__main__":
    sys.exit(main())
