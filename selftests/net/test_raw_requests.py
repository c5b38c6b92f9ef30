#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""
Malformed and ambiguous requests to a gateway, a target and Debian's nginx.

Each is followed at once by a request that must not run when the framing of the first is in doubt.
raw_cases.py has what each server answers, and a reason wherever nginx differs from us.
"""

import os
import re
import socket
import sys
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "client"))
# pylint: disable=wrong-import-position
import nginx
import raw_cases
from harness import HOST, LONG, Cases, Cluster, ask, equal, true, wait_for
from raw_cases import CASES, END, PATH

PORT = 18640
WAIT_S = 20
NEXT = b"GET " + PATH + b"?smuggled=1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
STATUS = re.compile(rb"HTTP/1\.1 (\d\d\d) ")
WAYS = {"whole": 1 << 20, **({"byte by byte": 1} if LONG else {"in pieces of 7": 7})}
case = Cases()


def statuses(port, raw, step):
    """Of all answers; then how it ended, unless that was in order."""
    out = b""
    with socket.create_connection((HOST, port), WAIT_S) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        text = raw + NEXT
        step = max(step, len(text) // 2000)
        try:
            for at in range(0, len(text), step):
                s.sendall(text[at:at + step])
        except OSError:
            pass  # it may be refused before all is sent
        try:
            while piece := s.recv(65536):
                out += piece
        except TimeoutError:
            return [*map(int, STATUS.findall(out)), "open"]
        except OSError:
            return [*map(int, STATUS.findall(out)), "reset"]
    return [*map(int, STATUS.findall(out))]


def wanted(row):
    """Name, request, our statuses, nginx's."""
    return (*row[:3], row[3] if len(row) > 3 else row[2])


@case("the table explains each difference, and only differences")
def table(_cluster, _other):
    equal(len({row[0] for row in CASES}), len(CASES), "names")
    for row in CASES:
        name, _, ours, theirs = wanted(row)
        equal(len(row), 3 if ours == theirs else 5, f"columns of {name}")
        true(len(row) == 3 or row[4], f"{name} has a reason")
    reasons = {v for k, v in vars(raw_cases).items() if k.isupper() and isinstance(v, str)}
    equal(reasons - {row[4] for row in CASES if len(row) > 3}, set(), "reasons nobody gives")


def compare(servers, step):
    wrong = []
    with ThreadPoolExecutor(16) as pool:
        jobs = [(row, who, want, pool.submit(statuses, port, row[1], step))
                for row in CASES for who, port, want in
                ((w, p, wanted(row)[3 if w == "nginx" else 2]) for w, p in servers)]
        for row, who, want, job in jobs:
            if job.result() != want:
                wrong.append(f"{who}, {row[0]}: {job.result()}, not {want}")
    true(not wrong, "\n#   ".join(wrong))


@case(f"{len(CASES)} requests, whole: gateway, target and nginx answer as the table says")
def whole(cluster, other):
    compare([("gateway", cluster.public_port("g1")), ("target", cluster.public_port("t1")),
             ("nginx", other.port)], WAYS["whole"])


@case("the same in pieces: the gateway and the target answer the same")
def pieces(cluster, _other):
    step = list(WAYS.values())[1]
    compare([("gateway", cluster.public_port("g1")), ("target", cluster.public_port("t1"))], step)


@case("the internal listeners are as strict")
def internal(cluster, _other):
    nodes = {n["node"]: n for n in cluster.nodes()}
    for node in nodes.values():
        for net in ("control", "data"):
            port = int(node[net].split(":")[1])
            bad = [row for row in CASES if row[2] in ([400], [414], [431], [505], [417])]
            with ThreadPoolExecutor(8) as pool:
                got = list(pool.map(lambda row, p=port: statuses(p, row[1], 1 << 20), bad))
            for row, answer in zip(bad, got):
                equal(answer, row[2], f"{node['node']} {net}, {row[0]}")


@case("a body with a doubtful end is not acted upon")
def acted_upon(cluster, _other):
    port = cluster.port
    for n, framing in enumerate((b"Content-Length: 120\r\nTransfer-Encoding: chunked\r\n",
                                 b"Transfer-Encoding: chunked, identity\r\n",
                                 b"Content-Length: 120\r\nContent-Length: 120\r\n")):
        body = b'{"action":"create-bck","name":"","value":null}'.ljust(120)
        body = b"78\r\n" + body + b"\r\n0\r\n\r\n" if b"chunked" in framing else body
        raw = b"POST /v1/buckets/doubt%d HTTP/1.1\r\nHost: a\r\n" % n + framing + END + body
        equal(statuses(port, raw, 1 << 20), [400], framing.decode())
        equal(ask(port, "HEAD", f"/v1/buckets/doubt{n}?provider=ais").status, 404, "the bucket")
    raw = (b"POST /v1/buckets/doubt3 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
           b'2e\r\n{"action":"create-bck","name":"","value":null}\r\n0\n\r\n')
    equal(statuses(port, raw, 1 << 20), [400], "bare LF behind the last chunk")
    equal(ask(port, "HEAD", "/v1/buckets/doubt3?provider=ais").status, 404, "the bucket")


@case("the log of nginx agrees on which second requests were run")
def not_smuggled(_cluster, other):
    def served():
        return sum(line.startswith(f"GET {PATH.decode()}?smuggled") for line in other.requests())
    answered = sum(len([s for s in wanted(row)[3] if s != 100]) == 2 for row in CASES)
    wait_for(lambda: served() >= answered, WAIT_S, "the access log is written")  # after answers
    equal(served(), answered, "second requests in its access log")


def main():
    if not nginx.binary():
        print("no nginx; tools/install-deps --tests installs nginx-light")
        return 4
    with Cluster("raw", PORT, "--targets", "1", "--mountpaths", "1") as cluster, \
            nginx.Nginx() as other:
        return case.run(cluster, other)


if __name__ == "__main__":
    sys.exit(main())
