# SPDX-License-Identifier: BSD-2-Clause
"""HTTP byte by byte, and the cluster's arithmetic written from its documents, not from its code."""

import base64
import hashlib
import socket
import struct
import urllib.parse

from harness import HOST, Mismatch, Response, equal, true

MASK = (1 << 64) - 1
PLACEMENT_SEED = 1103515245
BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"


# ---- one connection

class Conn:
    """A client that sends what it is told and reads one response at a time."""

    def __init__(self, port, timeout=30, rcvbuf=0):
        self.socket = socket.socket()
        if rcvbuf:  # before the connection: it bounds the window that is offered
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
        self.socket.settimeout(timeout)
        self.socket.connect((HOST, port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def request(self, method, target, headers=(), body=b"", more=()):
        """One request with exactly these header lines (and Host)."""
        self.send(head(method, target, headers, more) + body)

    def more(self, n=65536):
        piece = self.socket.recv(n)
        self.buffer += piece
        return piece

    def take(self, n):
        pieces, have = [self.buffer[:n]], min(n, len(self.buffer))
        self.buffer = self.buffer[n:]
        while have < n:
            piece = self.socket.recv(min(n - have, 1 << 20))
            if not piece:
                raise Mismatch(f"the connection ended {n - have} bytes before the body did")
            pieces.append(piece)
            have += len(piece)
        return b"".join(pieces)

    def line(self):
        while b"\r\n" not in self.buffer:
            if not self.more():
                raise Mismatch(f"the connection ended in a head: {self.buffer[:200]!r}")
        line, self.buffer = self.buffer.split(b"\r\n", 1)
        return line.decode("latin-1")

    def head(self):
        """Status line and headers of the next response; an interim one too."""
        version, status, *_ = self.line().split(" ")
        equal(version, "HTTP/1.1", "version of the answer")
        headers = []
        while True:
            line = self.line()
            if not line:
                return Response(int(status), headers, b"")
            name, _, value = line.partition(":")
            headers.append((name, value.strip(" \t")))

    def response(self, method="GET"):
        """The next final response; interim ones before it are in its list `interim`."""
        interim, r = [], self.head()
        while r.status < 200:
            interim.append(r.status)
            r = self.head()
        r.interim = interim
        if method != "HEAD" and r.status not in (204, 304):
            r.body = self.body(r)
        return r

    def body(self, r):
        if (r.header("Transfer-Encoding") or "").lower() == "chunked":
            out = b""
            while True:
                size = int(self.line().split(";")[0], 16)
                out += self.take(size)
                if not size:
                    while self.line():
                        pass
                    return out
                equal(self.line(), "", "end of a chunk")
        length = r.header("Content-Length")
        true(length is not None, f"status {r.status} has a length: {r.headers}")
        return self.take(int(length))

    def ask(self, method, target, headers=(), body=b"", more=()):
        self.request(method, target, headers, body, more)
        return self.response(method)

    def ended(self):
        """Has the server closed, in order and with nothing more to read?"""
        return not self.buffer and not self.more()

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


def head(method, target, headers=(), more=()):
    lines = list(headers.items() if isinstance(headers, dict) else headers) + list(more)
    if not any(k.lower() == "host" for k, _ in lines):
        lines.insert(0, ("Host", HOST))
    text = f"{method} {target} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in lines)
    return text.encode("latin-1") + b"\r\n"


def length(n):
    return [("Content-Length", str(n))]


CHUNKED = [("Transfer-Encoding", "chunked")]


def chunks(data, *sizes):
    """A chunked body, cut into these sizes over and over."""
    out, at, i = b"", 0, 0
    while at < len(data):
        piece = data[at:at + sizes[i % len(sizes)]]
        out += b"%x\r\n%s\r\n" % (len(piece), piece)
        at, i = at + len(piece), i + 1
    return out + b"0\r\n\r\n"


def signed(port, method, target, framing=(), headers=()):
    """What the gateway's redirect names: port and target. Only the head is sent."""
    with Conn(port) as c:
        r = c.ask(method, target, list(headers) + list(framing))
    equal(r.status, 307, f"{method} {target} at the gateway ({r.text[:200]})")
    return split(r.header("Location"))


def split(location):
    to = urllib.parse.urlsplit(location)
    return to.port, f"{to.path}?{to.query}"


def path_of(bucket, name, query=""):
    name = name.encode() if isinstance(name, str) else name
    return f"/v1/objects/{bucket}/{urllib.parse.quote(name, safe='/')}?provider=ais{query}"


def uname(bucket, name):
    return f"ais/@#/{bucket}/{name}"


# ---- checksums

def rotl(v, n):
    return (v << n | v >> (64 - n)) & MASK


P1, P2, P3, P4, P5 = (11400714785074694791, 14029467366897019727, 1609587929392839161,
                      9650029242287828579, 2870177450012600261)


def xxh64(data, seed=0):
    """XXH64 as its specification gives it."""
    def rounded(acc, lane):
        return rotl((acc + lane * P2) & MASK, 31) * P1 & MASK
    at, n = 0, len(data)
    if n >= 32:
        v = [(seed + P1 + P2) & MASK, (seed + P2) & MASK, seed, (seed - P1) & MASK]
        while at + 32 <= n:
            lanes = struct.unpack_from("<4Q", data, at)
            v = [rounded(a, lane) for a, lane in zip(v, lanes)]
            at += 32
        h = (rotl(v[0], 1) + rotl(v[1], 7) + rotl(v[2], 12) + rotl(v[3], 18)) & MASK
        for a in v:
            h = ((h ^ rounded(0, a)) * P1 + P4) & MASK
    else:
        h = (seed + P5) & MASK
    h = (h + n) & MASK
    while at + 8 <= n:
        h = (rotl(h ^ rounded(0, struct.unpack_from("<Q", data, at)[0]), 27) * P1 + P4) & MASK
        at += 8
    if at + 4 <= n:
        h = (rotl(h ^ struct.unpack_from("<I", data, at)[0] * P1 & MASK, 23) * P2 + P3) & MASK
        at += 4
    for b in data[at:]:
        h = rotl(h ^ b * P5 & MASK, 11) * P1 & MASK
    h = (h ^ h >> 33) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32


def crc32c(data):
    crc = 0xffffffff
    for b in data:
        crc ^= b
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def checksum(kind, data):
    """Lower-case hex of a type of checksum, as documented."""
    if kind in ("xxhash", "xxhash2"):
        return f"{xxh64(data):016x}"
    if kind == "crc32c":
        return f"{crc32c(data):08x}"
    return hashlib.new(kind, data).hexdigest()


# ---- placement

def mix(v):
    v = (v + 0x9E3779B97F4A7C15) & MASK
    v = (v ^ v >> 30) * 0xBF58476D1CE4E5B9 & MASK
    v = (v ^ v >> 27) * 0x94D049BB133111EB & MASK
    return v ^ v >> 31


def score(v):
    return rotl(mix(mix(v)) * 5 & MASK, 7) * 9 & MASK


def owner(targets, bucket, name):
    """Which of these target IDs has the name."""
    digest = xxh64(uname(bucket, name).encode(), PLACEMENT_SEED)
    return max(targets, key=lambda t: score(xxh64(t.encode(), PLACEMENT_SEED) ^ digest))


# ---- Ed25519 (RFC 8032), plainly

Q = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, Q - 2, Q) % Q
ROOT = pow(2, (Q - 1) // 4, Q)


def recover_x(y, sign):
    if y >= Q:
        raise ValueError("y is too large")
    square = (y * y - 1) * pow(D * y * y + 1, Q - 2, Q) % Q
    x = pow(square, (Q + 3) // 8, Q)
    if (x * x - square) % Q:
        x = x * ROOT % Q
    if (x * x - square) % Q or (not x and sign):
        raise ValueError("no point of the curve")
    return Q - x if x & 1 != sign else x


def point(data):
    y = int.from_bytes(data, "little")
    x = recover_x(y & (1 << 255) - 1, y >> 255)
    y &= (1 << 255) - 1
    return x, y, 1, x * y % Q


def add(p, q):
    a = (p[1] - p[0]) * (q[1] - q[0]) % Q
    b = (p[1] + p[0]) * (q[1] + q[0]) % Q
    c = 2 * p[3] * q[3] * D % Q
    d = 2 * p[2] * q[2] % Q
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % Q, g * h % Q, f * g % Q, e * h % Q


def times(n, p):
    out = (0, 1, 1, 0)
    while n:
        if n & 1:
            out = add(out, p)
        p, n = add(p, p), n >> 1
    return out


def same(p, q):
    return not (p[0] * q[2] - q[0] * p[2]) % Q and not (p[1] * q[2] - q[1] * p[2]) % Q


BASE_Y = 4 * pow(5, Q - 2, Q) % Q
BASE_X = recover_x(BASE_Y, 0)
BASE = (BASE_X, BASE_Y, 1, BASE_X * BASE_Y % Q)


def hashed(*parts):
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little") % ORDER


def ed25519_verify(key, message, signature):
    s = int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or len(key) != 32 or s >= ORDER:
        return False
    try:
        a, r = point(key), point(signature[:32])
    except ValueError:
        return False
    return same(times(s, BASE), add(r, times(hashed(signature[:32], key, message), a)))


def compress(p):
    z = pow(p[2], Q - 2, Q)
    return (p[1] * z % Q | (p[0] * z % Q & 1) << 255).to_bytes(32, "little")


class Key:
    """A pair of our own."""

    def __init__(self, seed):
        h = hashlib.sha512(seed).digest()
        self.scalar = int.from_bytes(h[:32], "little") & ((1 << 254) - 8) | 1 << 254
        self.prefix = h[32:]
        self.public = compress(times(self.scalar, BASE))

    def sign(self, message):
        r = hashed(self.prefix, message)
        first = compress(times(r, BASE))
        s = (r + hashed(first, self.public, message) * self.scalar) % ORDER
        return first + s.to_bytes(32, "little")


# ---- the envelope of a redirect

def base36(n):
    out = ""
    while n:
        n, digit = divmod(n, 36)
        out = BASE36[digit] + out
    return out or "0"


def payload(method, path, signer, version, size, nonce):
    """What is signed: the decoded path, no query."""
    path = path.encode() if isinstance(path, str) else path
    return b"\0".join((method.encode(), path, signer.encode())) + b"\0" + \
        struct.pack(">QQQ", version, size, nonce)


def b64url(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def b64url_text(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Envelope:
    """The parts of a Location, each to be changed before it is used."""

    def __init__(self, location):
        to = urllib.parse.urlsplit(location)
        self.port, self.path = to.port, to.path
        self.query = urllib.parse.parse_qsl(to.query, keep_blank_values=True)

    def get(self, name):
        values = [v for k, v in self.query if k == name]
        equal(len(values), 1, f"how often {name} is in {self.query}")
        return values[0]

    def target(self, path=None, **changes):
        """As a request target; None leaves a parameter out."""
        query = [(k, changes.get(k, v)) for k, v in self.query]
        query = [(k, v) for k, v in query if v is not None]
        return f"{path or self.path}?{urllib.parse.urlencode(query)}"

    def payload(self, method, size):
        return payload(method, urllib.parse.unquote_to_bytes(self.path), self.get("pid"),
                       int(self.get("vpams"), 36), size, int(self.get("x"), 36))

    def verifies(self, key, method, size=0):
        text = self.get("u")
        equal(len(text), 86, "digits of u")
        return ed25519_verify(key, self.payload(method, size), b64url(text))


def key_of(node):
    """The raw key of a node's entry in the map."""
    key = base64.b64decode(node["verifying_key"], validate=True)
    equal(len(key), 32, "bytes of verifying_key")
    return key


def self_test():
    """The published vectors: the tests of the tests."""
    equal(f"{xxh64(b''):016x}", "ef46db3751d8e999", "XXH64 of nothing")
    equal(f"{xxh64(b'abc'):016x}", "44bc2cf5ad770999", "XXH64 of abc")
    equal(f"{crc32c(b'123456789'):08x}", "e3069283", "CRC-32C")
    equal(xxh64(b"ais/@#/abc/dir/obj-1", PLACEMENT_SEED), 8142563100421934502, "digest")
    equal(xxh64(b"t1Kq8mXzA", PLACEMENT_SEED), 17294988425395217457, "id_digest")
    equal(score(17294988425395217457 ^ 8142563100421934502), 11826329585407143613, "score")
    key = Key(bytes(range(32)))
    equal(base64.b64encode(key.public), b"A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=", "key")
    text = payload("GET", "/v1/objects/bck/obj", "p12345678", 17, 0, 4660)
    want = "-gerXhF8ro6O6QkDwgLFNDvkaNLn6Zfp8i59whNaEalwuWrmbqqF7Dy8jYn7t1D6gYQM8Yy8SiGHsAItgC61Cg"
    equal((len(text), b64url_text(key.sign(text))), (58, want), "signature")
    true(ed25519_verify(key.public, text, b64url(want)), "it verifies")
    true(not ed25519_verify(key.public, text + b"x", b64url(want)), "not of another text")
    equal((base36(17), base36(4660)), ("h", "3lg"), "base 36")
