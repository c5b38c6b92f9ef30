# SPDX-License-Identifier: BSD-2-Clause
"""What tests of hostile and greedy clients share: a node from outside, and its other client."""

import multiprocessing
import os
import random
import re
import socket
import time

from harness import HOST, act, ask, equal, true, wait_for
from rawhttp import Conn, head, path_of, signed

HOSTILE = "127.0.0.2"  # where attackers come from, so that limits of a peer are theirs
FORK = multiprocessing.get_context("fork")
# What the scheduler of a host of two cores, busy with the attackers themselves, takes by itself.
NOISE_S = 0.03
SIGNED_S = 20  # a signed address is good for a minute


class Node:
    """A daemon: what it holds, what it has counted, what it has logged."""

    def __init__(self, cluster, name):
        me = next(n for n in cluster.nodes() if n["node"] == name)
        self.pid, self.name = me["pid"], name
        self.port = int(me["public"].split(":")[1])
        self.control = int(me["control"].split(":")[1])
        self.folder = os.path.join(cluster.dir, name)

    def fds(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def rss(self):
        with open(f"/proc/{self.pid}/statm", encoding="ascii") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def cpu_s(self):
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as f:
            fields = f.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def counter(self, name):
        text = ask(self.port, "GET", "/metrics").text
        found = re.search(rf"^{name}{{[^}}]*}} (\d+)$", text, re.M)
        true(found, f"{name} is in /metrics")
        return int(found[1])

    def log_lines(self, word):
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as f:
            return [line for line in f if word in line]

    def errors(self):
        return self.log_lines(" error ")

    def alive(self):
        equal(ask(self.port, "GET", "/v1/health").status, 200, f"health of {self.name}")
        true(os.path.exists(f"/proc/{self.pid}"), f"{self.name} runs")


class Url:
    """Where the gateway sends a request; asked for again while it is good."""

    def __init__(self, gateway, method, bucket, name, framing=()):
        self.ask = (gateway, method, path_of(bucket, name), framing)
        self.at = -SIGNED_S

    def get(self):
        if time.monotonic() - self.at > SIGNED_S:
            self.port, self.target = signed(*self.ask)
            self.at = time.monotonic()
        return self.port, self.target


def put(gateway, bucket, name, size, byte=b"\0"):
    """An object of one byte over and over, sent in pieces."""
    framing = [("Content-Length", str(size))]
    port, target = signed(gateway, "PUT", path_of(bucket, name), framing)
    piece = byte * (1 << 20)
    with Conn(port, 600) as c:
        c.send(head("PUT", target, framing))
        while size:
            c.send(piece[:size])
            size -= min(size, len(piece))
        r = c.response()
    equal(r.status, 200, f"PUT {name}: {r.text[:200]}")
    return r


def connect(port, source=HOSTILE, rcvbuf=0, timeout=60):
    """A connection of an attacker."""
    c = Conn.__new__(Conn)
    c.buffer, c.socket = b"", socket.socket()
    if rcvbuf:
        c.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
    c.socket.settimeout(timeout)
    c.socket.bind((source, 0))
    c.socket.connect((HOST, port))
    return c


def somewhere(limit):
    """A random number of bytes, as likely small as large."""
    return min(limit, int(2 ** random.uniform(0, limit.bit_length())))


# ---- the other client

def p99(values):
    values = sorted(values)
    return values[min(len(values) - 1, len(values) * 99 // 100)]


def probe(gateway, bucket, name, pipe):
    """Fetch a small object over and over until told to stop; send the times back."""
    url, times = Url(gateway, "GET", bucket, name), []
    c = None
    while not pipe.poll(0.004):
        port, target = url.get()
        c = c or Conn(port, 60)
        begin = time.perf_counter()
        r = c.ask("GET", target)
        times.append(time.perf_counter() - begin)
        if r.status != 200:
            pipe.send(f"status {r.status}: {r.text[:200]}")
            return
    pipe.send(times)


class Probe:
    """The other client, in a process of its own, for as long as the with-block."""

    def __init__(self, gateway, bucket, name):
        self.args, self.times = (gateway, bucket, name), []

    def __enter__(self):
        self.pipe, theirs = FORK.Pipe()
        self.child = FORK.Process(target=probe, args=(*self.args, theirs), daemon=True)
        self.child.start()
        theirs.close()
        return self

    def __exit__(self, kind, *_):
        try:
            self.pipe.send("stop")
            self.times = self.pipe.recv()
        except OSError:
            self.times = "it has ended"
        self.child.join()
        self.pipe.close()
        if not kind:
            true(isinstance(self.times, list), f"the other client: {self.times}")

    def p99(self):
        return p99(self.times)


class Server:
    """A cluster of one target, and how it is when nobody harms it."""

    BUCKET = "hostile"

    def __init__(self, cluster):
        self.cluster, self.gateway = cluster, cluster.port
        self.target, self.front = Node(cluster, "t1"), Node(cluster, "g1")
        r = ask(self.gateway, "POST", f"/v1/buckets/{self.BUCKET}?provider=ais", act("create-bck"))
        equal(r.status, 200, r.text)
        put(self.gateway, self.BUCKET, "small", 1024, b"s")
        with self.probe() as p:
            wait_for(lambda: not p.child.join(2), 20, "the idle time is known")
        self.idle = p.p99()
        print(f"# idle: p99 {self.idle * 1000:.2f} ms of {len(p.times)}", flush=True)

    def probe(self):
        return Probe(self.gateway, self.BUCKET, "small")

    def unharmed(self, p, what):
        """The other client has hardly noticed."""
        limit = max(10 * self.idle, NOISE_S)
        print(f"# {what}: p99 {p.p99() * 1000:.2f} ms of {len(p.times)}, "
              f"largest {max(p.times) * 1000:.1f}", flush=True)
        true(p.p99() <= limit, f"{what}: p99 {p.p99():.4f} s, at most {limit:.4f}")

    def url(self, method, name, framing=()):
        return Url(self.gateway, method, self.BUCKET, name, framing)

    def put(self, name, size, byte=b"\0"):
        return put(self.gateway, self.BUCKET, name, size, byte)
