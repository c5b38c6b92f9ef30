#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""
Load and measurements in processes of their own, so that neither slows the other down:

    loadgen.py gets SECONDS CONNECTIONS URL...     downloads, each repeated
    loadgen.py puts SECONDS CONNECTIONS URL...     bodies that arrive a little at a time
    loadgen.py health SECONDS 1 HOST:PORT...       one request after the other; prints times in ms
"""

import json
import select
import socket
import sys
import time
import urllib.parse

SIZE = 100000
BIT = 200


class Transfer:
    """One connection at a time to its URL, again and again."""

    def __init__(self, kind, url):
        self.kind, self.url, self.bytes, self.done, self.failed = kind, url, 0, 0, 0
        self.socket = None
        self.open()

    def open(self):
        to = urllib.parse.urlsplit(self.url)
        target = f"{to.path}?{to.query}"
        head = (f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n" if self.kind == "gets" else
                f"PUT {target} HTTP/1.1\r\nHost: x\r\nContent-Length: {SIZE}\r\n\r\n")
        self.socket = socket.create_connection((to.hostname, to.port), 10)
        self.socket.sendall(head.encode())
        self.socket.setblocking(False)
        self.got, self.sent, self.want = b"", 0, None

    def fileno(self):
        return self.socket.fileno()

    def readable(self):
        data = self.socket.recv(1 << 18)
        self.bytes += len(data)
        if self.want is None:
            self.got += data
            at = self.got.find(b"\r\n\r\n")
            if at < 0 and data:
                return
            head, data = self.got[:at], self.got[at + 4:]
            if not head.startswith(b"HTTP/1.1 200"):
                self.failed += 1
                self.again()
                return
            self.want = next(int(line.split(b":")[1]) for line in head.split(b"\r\n")
                             if line.lower().startswith(b"content-length"))
        self.want -= len(data)
        if self.want <= 0:
            self.done += 1
            self.again()

    def again(self):
        self.socket.close()
        self.open()

    def bit(self):
        """The next few bytes of a slow body."""
        if self.sent < SIZE:
            n = min(BIT, SIZE - self.sent)
            try:
                self.sent += self.socket.send(b"x" * n)
            except BlockingIOError:
                pass


def transfers(kind, until, connections, urls):
    all_of_them = [Transfer(kind, urls[i % len(urls)]) for i in range(connections)]
    poll = select.epoll()
    by_fd = {t.fileno(): t for t in all_of_them}
    for fd in by_fd:
        poll.register(fd, select.EPOLLIN)
    next_bit, broken = 0, 0
    while time.monotonic() < until:
        for fd, _ in poll.poll(0.05, 64):
            t = by_fd.pop(fd)
            try:
                t.readable()
            except BlockingIOError:
                pass
            except OSError:
                broken += 1
                t.again()
            by_fd[t.fileno()] = t
            try:
                poll.register(t.fileno(), select.EPOLLIN)
            except FileExistsError:
                pass
        if kind == "puts" and time.monotonic() >= next_bit:
            next_bit = time.monotonic() + 0.1
            for t in all_of_them:
                t.bit()
    return {"bytes": sum(t.bytes for t in all_of_them), "done": sum(t.done for t in all_of_them),
            "failed": sum(t.failed for t in all_of_them), "broken": broken}


def health(until, places):
    """Times of requests on new connections, round robin."""
    times, bad = [], 0
    while time.monotonic() < until:
        for place in places:
            host, port = place.split(":")
            began = time.monotonic()
            try:
                with socket.create_connection((host, int(port)), 5) as s:
                    s.sendall(b"GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                    bad += not s.recv(4096).startswith(b"HTTP/1.1 200")
            except OSError:
                bad += 1
            times.append((time.monotonic() - began) * 1000)
        time.sleep(0.01)
    times.sort()
    return {"count": len(times), "bad": bad, "p50": times[len(times) // 2],
            "p99": times[len(times) * 99 // 100], "max": times[-1]}


def main():
    kind, seconds, connections, *places = sys.argv[1:]
    until = time.monotonic() + float(seconds)
    print(json.dumps(health(until, places) if kind == "health" else
                     transfers(kind, until, int(connections), places)))


main()
