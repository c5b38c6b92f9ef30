# SPDX-License-Identifier: BSD-2-Clause
"""Malformed and ambiguous requests, what we answer, and what Debian's nginx answers, and why."""

PATH = b"/v1/health"
GET = b"GET " + PATH + b" HTTP/1.1\r\n"
POST = b"POST " + PATH + b" HTTP/1.1\r\n"
HOST = b"Host: a\r\n"
LENGTH = b"Content-Length: 5\r\n"
CODED = b"Transfer-Encoding: chunked\r\n"
BODY = b"12345"
CHUNKS = b"5\r\n12345\r\n0\r\n\r\n"
END = b"\r\n"


def line(text):
    """A GET whose request line is this."""
    return text + b"\r\n" + HOST + END


def field(text):
    """A GET with this header line."""
    return GET + HOST + text + b"\r\n" + END


def framed(text, body=BODY):
    """A POST whose body is framed by these header lines."""
    return POST + HOST + text + END + body


def chunked(body):
    return framed(CODED, body)


def target(text):
    return line(b"GET " + text + b" HTTP/1.1")


# ---- why nginx answers otherwise

ONE_LINE = "RFC 9112 2.2 forgives an empty line; we forgive one, nginx any number"
BARE_LF = "RFC 9112 2.2 lets a reader take LF for CR LF; two readers that differ are an attack"
TAB = "RFC 9112 5: blanks around a value are spaces and tabs; nginx takes spaces only"
ASTERISK = "RFC 9110 9.3.7: OPTIONS * asks about the server; nginx does not have it"
FORM = "a request that is whole, with a wrong target: we answer it and go on, nginx closes"
CODING = "RFC 9112 6.1 and 6.3 allow 400 and 501 for a coding that is not understood; both close"
EARLY = "answered before its body was read; then the body ends the connection"
LENIENT_BODY = "nginx takes it; we end the connection, and what follows is not read as a request"
CR = "nginx takes any number of CR before LF; RFC 9112 2.2: a bare CR is invalid"
HTTP09 = "nginx answers HTTP/0.9, without a status line; RFC 9112 has no such request"
LENIENT_LINE = "RFC 9112 3 has one space between three parts; nginx takes more"
VERSION = "no version but 1.0 and 1.1 is ours to speak; nginx takes any 1.x, and asks for one digit"
METHOD = "well-formed, so 405 and the connection goes on; nginx asks for capitals, and serves any"
UTF8 = "names are UTF-8: 400, and the connection goes on; nginx takes bytes"
FRAGMENT = "RFC 9112 3.2: a target has no fragment; nginx cuts it off"
STATUS_431 = "RFC 6585 5 has a status for it; nginx says 400"
EMPTY_HOST = "RFC 9112 3.2 allows it when the authority is empty"
USERINFO = "RFC 9110 4.2.4: user information in an authority is to be refused; nginx takes it"
IGNORED = "nginx drops header lines it does not understand; another reader may not"
CONTROL = "RFC 9110 5.5: control bytes in a value are dangerous; nginx passes them on"
EXPECT = "answered at once, so the body is not asked for, and may come or not: we close"
EXPECT_NONE = "RFC 9110 10.1.1: nothing to wait for, no 100 Continue; nginx sends one"
EXPECT_OTHER = "RFC 9110 10.1.1 has 417 for it; nginx takes no notice"
PREFACE = "a version we do not speak; nginx takes no letters but its methods'"

# ---- name, request, our statuses; where nginx's differ, they and the reason
#
# Statuses are of all answers, to the request and to one sent behind it, which asks to close.

SERVED = [200, 200]
REFUSED = [400]
CASES = [
    ("plain", GET + HOST + END, SERVED),
    ("empty line first", END + GET + HOST + END, SERVED),
    ("two empty lines first", END + END + GET + HOST + END, REFUSED, SERVED, ONE_LINE),
    ("bare LF first", b"\n" + GET + HOST + END, REFUSED, SERVED, BARE_LF),
    ("HTTP/1.0 without Host", b"GET /v1/health HTTP/1.0\r\n\r\n", [200]),
    ("HTTP/1.0 keep-alive", b"GET /v1/health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", SERVED),
    ("Connection: close", field(b"Connection: close"), [200]),
    ("Connection: a list with close", field(b"Connection: x, close"), [200]),
    ("body by length", framed(LENGTH), SERVED),
    ("body by chunks", chunked(CHUNKS), SERVED),
    ("length with leading zeros", framed(b"Content-Length: 0005\r\n"), SERVED),
    ("length behind a tab", framed(b"Content-Length:\t5\t\r\n"), SERVED, REFUSED, TAB),
    ("chunk extension", chunked(b"5;a=b\r\n12345\r\n0\r\n\r\n"), SERVED),
    ("trailer", chunked(b"5\r\n12345\r\n0\r\nA: b\r\n\r\n"), SERVED),
    ("trailer names a length", chunked(b"0\r\nContent-Length: 5\r\n\r\n"), SERVED),
    ("chunk size with zeros", chunked(b"0005\r\n12345\r\n000\r\n\r\n"), SERVED),
    ("both header names in odd case", framed(b"cONTENT-lENGTH: 5\r\n"), SERVED),
    ("absolute form", target(b"http://a/v1/health"), SERVED),
    ("OPTIONS of all", line(b"OPTIONS * HTTP/1.1"), SERVED, REFUSED, ASTERISK),
    ("value with bytes over 127", field(b"A: \xc3\xa9"), SERVED),
    ("empty value", field(b"A:"), SERVED),
    ("length and chunked", framed(LENGTH + CODED, CHUNKS), REFUSED),
    ("chunked and length", framed(CODED + LENGTH, CHUNKS), REFUSED),
    ("two lengths", framed(LENGTH + b"Content-Length: 6\r\n"), REFUSED),
    ("two equal lengths", framed(LENGTH + LENGTH), REFUSED),
    ("length list", framed(b"Content-Length: 5, 5\r\n"), REFUSED),
    ("length with plus", framed(b"Content-Length: +5\r\n"), REFUSED),
    ("negative length", framed(b"Content-Length: -5\r\n"), REFUSED),
    ("length with a space inside", framed(b"Content-Length: 5 5\r\n"), REFUSED),
    ("hexadecimal length", framed(b"Content-Length: 0x5\r\n"), REFUSED),
    ("empty length", framed(b"Content-Length:\r\n"), REFUSED),
    ("length 2^63", framed(b"Content-Length: 9223372036854775808\r\n"), REFUSED),
    ("length 2^64 + 5", framed(b"Content-Length: 18446744073709551621\r\n"), REFUSED),
    ("length with a decimal point", framed(b"Content-Length: 5.0\r\n"), REFUSED),
    ("length behind a vertical tab", framed(b"Content-Length: \x0b5\r\n"), REFUSED),
    ("space before the colon of a length", framed(b"Content-Length : 5\r\n"), REFUSED),
    ("tab before the colon of a length", framed(b"Content-Length\t: 5\r\n"), REFUSED),
    ("length in a folded line", framed(b"A: b\r\n Content-Length: 5\r\n"), REFUSED),
    ("length folded", framed(b"Content-Length:\r\n 5\r\n"), REFUSED),
    ("first header line folded", POST + b" " + LENGTH + HOST + END + BODY, REFUSED),
    ("chunked twice in one line", framed(b"Transfer-Encoding: chunked, chunked\r\n", CHUNKS),
     REFUSED, [501], CODING),
    ("chunked twice", framed(CODED + CODED, CHUNKS), REFUSED),
    ("gzip, chunked", framed(b"Transfer-Encoding: gzip, chunked\r\n", CHUNKS),
     REFUSED, [501], CODING),
    ("chunked, identity", framed(b"Transfer-Encoding: chunked, identity\r\n", CHUNKS),
     REFUSED, [501], CODING),
    ("identity", framed(b"Transfer-Encoding: identity\r\n" + LENGTH), REFUSED, [501], CODING),
    ("identity alone", framed(b"Transfer-Encoding: identity\r\n", b""), REFUSED, [501], CODING),
    ("xchunked", framed(b"Transfer-Encoding: xchunked\r\n", CHUNKS), REFUSED, [501], CODING),
    ("chunked with a parameter", framed(b"Transfer-Encoding: chunked;q=1\r\n", CHUNKS),
     REFUSED, [501], CODING),
    ("chunked in quotes", framed(b'Transfer-Encoding: "chunked"\r\n', CHUNKS),
     REFUSED, [501], CODING),
    ("Chunked", framed(b"Transfer-Encoding: Chunked\r\n", CHUNKS), SERVED),
    ("chunked behind a tab", framed(b"Transfer-Encoding:\tchunked \r\n", CHUNKS),
     SERVED, [501], TAB),
    ("chunked behind a vertical tab", framed(b"Transfer-Encoding: \x0bchunked\r\n", CHUNKS),
     REFUSED, [501], CODING),
    ("empty coding", framed(b"Transfer-Encoding:\r\n", b""), REFUSED, [501], CODING),
    ("space before the colon of a coding", framed(b"Transfer-Encoding : chunked\r\n", CHUNKS),
     REFUSED),
    ("chunked in HTTP/1.0", b"POST /v1/health HTTP/1.0\r\n" + HOST + CODED + END + CHUNKS, REFUSED),
    ("coding name with underscore", framed(b"Transfer_Encoding: chunked\r\n" + LENGTH), SERVED),
    ("chunk size no digit", chunked(b"G\r\n12345\r\n0\r\n\r\n"), [200], REFUSED, EARLY),
    ("chunk size with 0x", chunked(b"0x5\r\n12345\r\n0\r\n\r\n"), [200], REFUSED, EARLY),
    ("negative chunk size", chunked(b"-5\r\n12345\r\n0\r\n\r\n"), [200], REFUSED, EARLY),
    ("space before a chunk size", chunked(b" 5\r\n12345\r\n0\r\n\r\n"), [200], REFUSED, EARLY),
    ("space behind a chunk size", chunked(b"5 \r\n12345\r\n0\r\n\r\n"),
     [200], SERVED, LENIENT_BODY),
    ("empty chunk size", chunked(b"\r\n12345\r\n0\r\n\r\n"), [200], REFUSED, EARLY),
    ("chunk size 2^64 + 5", chunked(b"10000000000000005\r\n12345\r\n0\r\n\r\n"),
     [200], REFUSED, EARLY),
    ("chunk longer than its size", chunked(b"4\r\n12345\r\n0\r\n\r\n"), [200], REFUSED, EARLY),
    ("bare LF behind a chunk size", chunked(b"5\n12345\r\n0\r\n\r\n"), [200], SERVED, LENIENT_BODY),
    ("bare LF behind a chunk", chunked(b"5\r\n12345\n0\r\n\r\n"), [200], SERVED, LENIENT_BODY),
    ("bare CR behind a chunk size", chunked(b"5\rX12345\r\n0\r\n\r\n"), [200], REFUSED, EARLY),
    ("bare LF in a chunk extension", chunked(b"5;a\n12345\r\n0\r\n\r\n"),
     [200], SERVED, LENIENT_BODY),
    ("bare LF ends a trailer", chunked(b"0\r\nA: b\n\r\n"), [200], SERVED, LENIENT_BODY),
    ("trailer without a name", chunked(b"0\r\n: b\r\n\r\n"), [200], SERVED, LENIENT_BODY),
    ("20,000 bytes of trailers", chunked(b"0\r\n" + b"A: b\r\n" * 3334 + b"\r\n"),
     [200], SERVED, LENIENT_BODY),
    ("20,000 bytes of chunk extension", chunked(b"5;" + b"a" * 20000 + b"\r\n12345\r\n0\r\n\r\n"),
     [200], SERVED, LENIENT_BODY),
    ("bare LF behind the request line", b"GET /v1/health HTTP/1.1\n" + HOST + END,
     REFUSED, SERVED, BARE_LF),
    ("bare LF behind a header", GET + b"Host: a\n" + END, REFUSED, SERVED, BARE_LF),
    ("bare LF as the empty line", GET + HOST + b"\n", REFUSED, SERVED, BARE_LF),
    ("bare CR in a header", field(b"A: b\rC: d"), REFUSED),
    ("CR CR LF", field(b"A: b\r"), REFUSED, SERVED, CR),
    ("two spaces in the request line", line(b"GET  /v1/health HTTP/1.1"),
     REFUSED, SERVED, LENIENT_LINE),
    ("tab in the request line", line(b"GET\t/v1/health HTTP/1.1"), REFUSED),
    ("space behind the version", line(b"GET /v1/health HTTP/1.1 "), [505], SERVED, LENIENT_LINE),
    ("space first", line(b" GET /v1/health HTTP/1.1"), REFUSED),
    ("no version", line(b"GET /v1/health"), REFUSED, [], HTTP09),
    ("no target", line(b"GET HTTP/1.1"), REFUSED),
    ("HTTP/2.0", line(b"GET /v1/health HTTP/2.0"), [505]),
    ("HTTP/1.2", line(b"GET /v1/health HTTP/1.2"), [505], SERVED, VERSION),
    ("HTTP/1.10", line(b"GET /v1/health HTTP/1.10"), [505], SERVED, VERSION),
    ("HTTP/01.1", line(b"GET /v1/health HTTP/01.1"), [505], REFUSED, VERSION),
    ("http/1.1", line(b"GET /v1/health http/1.1"), REFUSED),
    ("XTTP/1.1", line(b"GET /v1/health XTTP/1.1"), REFUSED),
    ("lower-case method", line(b"get /v1/health HTTP/1.1"), [405, 200], REFUSED, METHOD),
    ("method nobody knows", line(b"BREW /v1/health HTTP/1.1"), [405, 200], SERVED, METHOD),
    ("method with a bracket", line(b"GE(T /v1/health HTTP/1.1"), REFUSED),
    ("NUL in the target", target(b"/v1/health\0"), REFUSED),
    ("control byte in the target", target(b"/v1/health\x01"), REFUSED),
    ("DEL in the target", target(b"/v1/health\x7f"), REFUSED),
    ("raw bytes over 127 in the target", target(b"/v1/health/\xc3\xa9"), SERVED),
    ("invalid UTF-8 in the target", target(b"/v1/health/%ff"), [400, 200], SERVED, UTF8),
    ("fragment", target(b"/v1/health#x"), REFUSED, SERVED, FRAGMENT),
    ("target without a slash", target(b"v1/health"), [400, 200], REFUSED, FORM),
    ("asterisk for GET", target(b"*"), [400, 200], REFUSED, FORM),
    ("CONNECT", line(b"CONNECT a:80 HTTP/1.1"), [400, 200], REFUSED, FORM),
    ("broken percent-encoding", target(b"/v1/health%zz"), [400, 200], REFUSED, FORM),
    ("encoded NUL", target(b"/v1/health%00"), [400, 200], REFUSED, FORM),
    ("dots above the root", target(b"/v1/../../etc/passwd"), [400, 200], REFUSED, FORM),
    ("request line of 70,000 bytes", target(b"/v1/health?" + b"a" * 70000), [414]),
    ("headers of 70,000 bytes", field(b"A: " + b"b" * 70000), [431], REFUSED, STATUS_431),
    ("1,000 headers", field(b"\r\n".join(b"A%d: b" % i for i in range(1000))),
     [431], REFUSED, STATUS_431),
    ("no Host", GET + END, REFUSED),
    ("two Hosts", field(HOST[:-2]), REFUSED),
    ("empty Host", GET + b"Host:\r\n" + END, SERVED, REFUSED, EMPTY_HOST),
    ("space in Host", GET + b"Host: a b\r\n" + END, REFUSED),
    ("slash in Host", GET + b"Host: a/b\r\n" + END, REFUSED),
    ("at sign in Host", GET + b"Host: a@b\r\n" + END, REFUSED, SERVED, USERINFO),
    ("header without a colon", field(b"A"), REFUSED, SERVED, IGNORED),
    ("header without a name", field(b": b"), REFUSED),
    ("space in a header name", field(b"A B: c"), REFUSED),
    ("bracket in a header name", field(b"A(B: c"), REFUSED, SERVED, IGNORED),
    ("NUL in a value", field(b"A: b\0c"), REFUSED),
    ("control byte in a value", field(b"A: b\x01c"), REFUSED, SERVED, CONTROL),
    ("folded value", field(b"A: b\r\n c"), REFUSED),
    ("Expect with a body", framed(b"Expect: 100-continue\r\n" + LENGTH),
     [200], [100, 200, 200], EXPECT),
    ("Expect without a body", field(b"Expect: 100-continue"), SERVED, [100, 200, 200], EXPECT_NONE),
    ("unknown expectation", framed(b"Expect: 200-ok\r\n" + LENGTH), [417], SERVED, EXPECT_OTHER),
    ("Expect in HTTP/1.0",
     b"POST /v1/health HTTP/1.0\r\nExpect: 100-continue\r\n" + LENGTH + END + BODY,
     [200]),
    ("upgrade to h2c", field(b"Connection: Upgrade\r\nUpgrade: h2c"), SERVED),
    ("preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [505], REFUSED, PREFACE),
    ("TLS ClientHello", b"\x16\x03\x01\x00\x2f\x01\x00\x00\x2b\x03\x03" + b"r" * 40, REFUSED),
    ("PROXY protocol", b"PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n" + GET + HOST + END, REFUSED),
]
