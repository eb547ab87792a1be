"""Raw requests that two HTTP parsers could read differently, against the running daemon: each is
refused before any handler of ours runs, the connection is closed where it can no longer be trusted,
and what hides in a body is never run as a request."""
import json
import re
import socket

import pytest

HOST = b"Host: localhost\r\n"
JSON = b"Content-Type: application/json\r\n"
BYTES = b"Content-Type: application/octet-stream\r\n"
ID = b"0192f00000007000800000000000dead"


def get(target, headers=b"", version=b"HTTP/1.1"):
    return b"GET " + target + b" " + version + b"\r\n" + HOST + headers + b"\r\n"


def post(headers, body=b"", target=b"/v1/jobs", version=b"HTTP/1.1"):
    return b"POST " + target + b" " + version + b"\r\n" + HOST + headers + b"\r\n" + body


CHUNKED = b"Transfer-Encoding: chunked\r\n"
END = b"0\r\n\r\n"

# name, request, status, code of the problem document (None: answered before our code), closes
ROWS = [
    ("length and chunked", post(JSON + b"Content-Length: 2\r\n" + CHUNKED, END), 400, "bad_request", True),
    ("chunked and length", post(JSON + CHUNKED + b"Content-Length: 2\r\n", END), 400, "bad_request", True),
    ("two lengths", post(JSON + b"Content-Length: 2\r\nContent-Length: 40\r\n", b"{}"), 400, "bad_request", True),
    ("two equal lengths", post(JSON + b"Content-Length: 2\r\nContent-Length: 2\r\n", b"{}"), 400, "bad_request", True),
    ("blank before colon, length", post(JSON + b"Content-Length : 3\r\n", b"{ }"), 400, "bad_request", True),
    ("blank before colon, coding", post(JSON + b"Transfer-Encoding : chunked\r\n", END), 400, "bad_request", True),
    ("tab before colon", post(JSON + b"Content-Length\t: 3\r\n", b"{ }"), 400, "bad_request", True),
    ("blank in a name", get(b"/healthz", b"X Y: 1\r\n"), 400, "bad_request", True),
    ("odd character in a name", get(b"/healthz", b"X(1): 1\r\n"), 400, "bad_request", True),
    ("empty name", get(b"/healthz", b": 1\r\n"), 400, "bad_request", True),
    ("no colon", get(b"/healthz", b"nonsense\r\n"), 400, None, True),
    ("8-bit name", get(b"/healthz", b"X\xc3\xa4: 1\r\n"), 400, "bad_request", True),
    ("length -1", post(JSON + b"Content-Length: -1\r\n"), 400, None, True),
    ("length +3", post(JSON + b"Content-Length: +3\r\n", b"{ }"), 400, None, True),
    ("length 3x", post(JSON + b"Content-Length: 3x\r\n", b"{ }"), 400, None, True),
    ("length 0x3", post(JSON + b"Content-Length: 0x3\r\n", b"{ }"), 400, None, True),
    ("length 3, 3", post(JSON + b"Content-Length: 3, 3\r\n", b"{ }"), 400, None, True),
    ("empty length", post(JSON + b"Content-Length:\r\n"), 400, None, True),
    ("length 1e23", post(JSON + b"Content-Length: 100000000000000000000000\r\n"), 413, None, True),
    ("length of a terabyte", post(JSON + b"Content-Length: 1000000000000\r\n"), 413, "too_large", True),
    ("coding gzip", post(JSON + b"Transfer-Encoding: gzip\r\n", b"{}"), 501, "not_implemented", True),
    ("coding gzip, chunked", post(JSON + b"Transfer-Encoding: gzip, chunked\r\n", END), 501, "not_implemented", True),
    ("coding chunked, chunked", post(JSON + b"Transfer-Encoding: chunked, chunked\r\n", END), 501,
     "not_implemented", True),
    ("coding xchunked", post(JSON + b"Transfer-Encoding: xchunked\r\nContent-Length: 2\r\n", b"{}"), 400,
     "bad_request", True),
    ("coding identity", post(JSON + b"Transfer-Encoding: identity\r\n", b"{}"), 501, "not_implemented", True),
    ("two codings", post(JSON + CHUNKED + CHUNKED, END), 400, "bad_request", True),
    ("coding on HTTP/1.0", post(JSON + CHUNKED, END, version=b"HTTP/1.0"), 400, "bad_request", True),
    ("chunk size -1", post(JSON + CHUNKED, b"-1\r\n{}\r\n" + END), 400, None, True),
    ("chunk size 0x2", post(JSON + CHUNKED, b"0x2\r\n{}\r\n" + END), 400, None, True),
    ("chunk longer than told", post(JSON + CHUNKED, b"1\r\n{}\r\n" + END), 400, None, True),
    ("chunk size overflow", post(JSON + CHUNKED, b"f" * 17 + b"\r\n{}\r\n" + END), 413, None, True),
    ("NUL in a value", get(b"/healthz", b"X-A: a\0b\r\n"), 400, "bad_request", True),
    ("two NULs in a value", get(b"/healthz", b"X-A: a\0\0b\r\n"), 400, "bad_request", True),
    ("NUL at the end of a value", get(b"/healthz", b"X-A: a\0\r\n"), 400, "bad_request", True),
    ("NUL in the target", get(b"/healthz\0"), 400, "bad_request", True),
    ("control character in a value", get(b"/healthz", b"X-A: a\x01b\r\n"), 400, "bad_request", True),
    ("folded header", get(b"/healthz", b"X-A: a\r\n b\r\n"), 400, "bad_request", True),
    ("length made by folding", post(JSON + b"Content-: 2\r\n Length\r\n", b"{}"), 400, "bad_request", True),
    ("bare line feeds", b"GET /healthz HTTP/1.1\nHost: localhost\n\n", 400, "bad_request", True),
    ("one bare line feed", get(b"/healthz", b"X-A: 1\nX-B: 2\r\n"), 400, "bad_request", True),
    ("bare carriage return", get(b"/healthz", b"X-A: 1\rX-B: 2\r\n"), 400, "bad_request", True),
    ("no host", b"GET /healthz HTTP/1.1\r\n\r\n", 400, "bad_request", True),
    ("empty host", b"GET /healthz HTTP/1.1\r\nHost:\r\n\r\n", 400, "bad_request", True),
    ("two hosts", get(b"/healthz", b"Host: evil.example\r\n"), 400, "bad_request", True),
    ("foreign host", b"GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403, "forbidden_origin", True),
    ("foreign origin", get(b"/healthz", b"Origin: http://evil.example\r\n"), 403, "forbidden_origin", True),
    ("null origin", get(b"/healthz", b"Origin: null\r\n"), 403, "forbidden_origin", True),
    ("two authorizations", get(b"/v1/jobs", b"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"), 400,
     "bad_request", True),
    ("escaped NUL", get(b"/healthz%00"), 400, "bad_request", True),
    ("escaped NUL in the query", get(b"/v1/jobs?search=%00"), 400, "bad_request", True),
    ("bad escape", get(b"/healthz%zz"), 400, "bad_request", True),
    ("cut escape", get(b"/healthz%2"), 400, "bad_request", True),
    ("not UTF-8", get(b"/v1/networks/%ff"), 400, "bad_request", True),
    ("raw 8-bit target", get(b"/v1/networks/\xff"), 400, "bad_request", True),
    ("fragment", get(b"/healthz#a"), 400, "bad_request", True),
    ("backslash", get(b"/v1\\jobs"), 400, "bad_request", True),
    ("blank in the target", get(b"/v1/jobs a"), 400, "bad_request", True),
    ("B18 dots", get(b"/v1/networks/../../../../etc/passwd"), 404, "not_found", False),
    ("B18 escaped dots", get(b"/v1/networks/%2e%2e%2f%2e%2e%2fetc%2fpasswd"), 404, "not_found", False),
    ("B18 doubly escaped dots", get(b"/v1/networks/%252e%252e%252fetc"), 404, "not_found", False),
    ("absolute form", get(b"http://localhost/healthz"), 200, None, False),
    ("absolute form of another host", get(b"http://elsewhere/healthz"), 403, "forbidden_origin", True),
    ("authority form", b"CONNECT localhost:80 HTTP/1.1\r\n" + HOST + b"\r\n", 400, "bad_request", True),
    ("star for GET", get(b"*"), 400, "bad_request", True),
    ("odd method", b"FOO<> /healthz HTTP/1.1\r\n" + HOST + b"\r\n", 501, "not_implemented", True),
    ("lower-case method", b"get /healthz HTTP/1.1\r\n" + HOST + b"\r\n", 501, "not_implemented", True),
    ("TRACE", b"TRACE /healthz HTTP/1.1\r\n" + HOST + b"\r\n", 501, "not_implemented", True),
    ("HTTP/2.0", get(b"/healthz", version=b"HTTP/2.0"), 505, None, True),
    ("HTTP/0.9", get(b"/healthz", version=b"HTTP/0.9"), 505, None, True),
    ("no version", b"GET /healthz\r\n\r\n", 400, None, True),
    ("words", b"hello there\r\n\r\n", 400, None, True),
    ("long target", get(b"/" + b"a" * 5000), 414, "uri_too_long", True),
    ("very long target", get(b"/" + b"a" * 300000), 414, None, True),
    ("long header", get(b"/healthz", b"X-A: " + b"a" * 20000 + b"\r\n"), 431, "headers_too_large", True),
    ("very long header", get(b"/healthz", b"X-A: " + b"a" * 300000 + b"\r\n"), 431, None, True),
    ("many headers", get(b"/healthz", b"".join(b"X-%d: 1\r\n" % i for i in range(500))), 431,
     "headers_too_large", True),
    ("many parameters", get(b"/v1/jobs?" + b"a=1&" * 100), 400, "bad_request", True),
    ("body of a GET", b"GET /healthz HTTP/1.1\r\n" + HOST + JSON + b"Content-Length: 2\r\n\r\n{}", 400,
     "bad_request", True),
    ("gzip body", post(JSON + b"Content-Encoding: gzip\r\nContent-Length: 2\r\n", b"\x1f\x8b"), 415,
     "unsupported_media_type", False),
    ("form body", post(b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 2\r\n", b"{}"), 415,
     "unsupported_media_type", False),
    ("multipart body", post(b"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 5\r\n", b"--x--"), 415,
     "unsupported_media_type", False),
    ("no length of a file", b"PUT /v1/datasets/" + ID + b"/files/a HTTP/1.1\r\n" + HOST + BYTES + b"\r\n", 411,
     "length_required", False),
    # Accepted, and the connection stays usable.
    ("plain", get(b"/healthz"), 200, "", False),
    ("HTTP/1.9", get(b"/healthz", version=b"HTTP/1.9"), 200, "", False),
    ("empty lines first", b"\r\n\r\n" + get(b"/healthz"), 200, "", False),
    ("blanks round a value", get(b"/healthz", b"X-A: \t a \t\r\nX-B:\r\n"), 200, "", False),
    ("own origin", get(b"/healthz", b"Origin: http://localhost\r\n"), 200, "", False),
    ("host with port", b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:8470\r\n\r\n", 200, "", False),
    ("OPTIONS *", b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n", 204, "", False),
    ("OPTIONS", b"OPTIONS /v1/jobs HTTP/1.1\r\n" + HOST + b"\r\n", 204, "", False),
]


class Wire:
    """One connection, and one reply at a time."""

    def __init__(self, daemon):
        self.socket = socket.create_connection(("127.0.0.1", daemon.port), timeout=60)
        self.rest = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError:
            pass  # refused early: the reply tells

    def more(self):
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError:
            data = b""
        self.rest += data
        return data

    def reply(self, head=False):
        """(status, headers, body); status 0 when the connection ends first."""
        while b"\r\n\r\n" not in self.rest:
            if not self.more():
                return 0, {}, b""
        text, self.rest = self.rest.split(b"\r\n\r\n", 1)
        lines = text.decode("latin1").split("\r\n")
        headers = {k.lower(): v.strip() for k, v in (line.split(":", 1) for line in lines[1:])}
        size = 0 if head else int(headers.get("content-length", 0))
        while len(self.rest) < size and self.more():
            pass
        body, self.rest = self.rest[:size], self.rest[size:]
        return int(lines[0].split()[1]), headers, body

    def closed(self):
        """Does the server end the connection soon?"""
        self.socket.settimeout(60)
        try:
            while self.more():
                pass
        except socket.timeout:
            return False
        return True


@pytest.mark.parametrize("row", ROWS, ids=[row[0].replace(" ", "-") for row in ROWS])
def test_row(daemon, row):
    _, request, status, code, closes = row
    with Wire(daemon) as wire:
        wire.send(request)
        got, headers, body = wire.reply()
        assert got == status, (got, body)
        if code:
            problem = json.loads(body)
            assert headers["content-type"] == "application/problem+json"
            assert problem["code"] == code and problem["status"] == status, problem
            assert problem["request_id"] == headers["x-request-id"]
        if closes:
            assert wire.closed()
        else:
            wire.send(get(b"/healthz"))
            assert wire.reply()[0] == 200


def test_hidden_requests_are_never_run(daemon):
    """The body of a request of unclear length holds another request."""
    hidden = get(b"/v1/networks/smuggled", b"X-Request-Id: smuggled\r\n")
    heads = [JSON + b"Content-Length: 2\r\n" + CHUNKED,
             JSON + b"Content-Length: 0\r\nContent-Length: 2\r\n",
             JSON + b"Content-Length : 2\r\n",
             JSON + b"Content-: 2\r\n Length\r\n",
             JSON + b"X: \0\r\nContent-Length: 2\r\n",
             JSON + b"Transfer-Encoding: xchunked\r\n"]
    for headers in heads:
        with Wire(daemon) as wire:
            wire.send(post(headers, END + hidden))
            status, _, body = wire.reply()
            assert status in (400, 501), (headers, status, body)
            assert wire.closed()
            assert b"smuggled" not in wire.rest, headers


def test_pieces_of_any_size(daemon):
    """What arrives byte by byte is read like what arrives at once."""
    request = get(b"/healthz?", b"X-A: " + b"a" * 300 + b"\r\nCookie: a=b\r\n")
    for size in (1, 7, 100, len(request)):
        with Wire(daemon) as wire:
            wire.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for i in range(0, len(request), size):
                wire.send(request[i:i + size])
            assert wire.reply()[0] == 200, size


def test_pipelined_requests(daemon):
    with Wire(daemon) as wire:
        wire.send(get(b"/healthz") * 300 + get(b"/nothing"))
        assert [wire.reply()[0] for _ in range(301)] == [200] * 300 + [404]


def test_B27_head_on_every_route(daemon):
    """No body, no stray bytes: the next request on the connection is read in step."""
    import conftest
    for path, item in conftest.SPEC["paths"].items():
        if "get" not in item:
            continue
        target = re.sub(r"\{id\}", ID.decode(), path)
        target = re.sub(r"\{\w+\}", "x", target).encode()
        with Wire(daemon) as wire:
            wire.send(b"HEAD " + target + b" HTTP/1.1\r\n" + HOST + b"\r\n")
            status, headers, body = wire.reply(head=True)
            assert status in (200, 400, 404, 503) and body == b"", (target, status)
            if headers.get("connection") == "close":
                assert wire.closed() and wire.rest == b"", target
            else:
                wire.send(get(b"/healthz"))
                assert wire.reply()[0] == 200, target


def test_expect_is_answered_before_the_body(daemon):
    with Wire(daemon) as wire:
        wire.send(post(b"Content-Type: text/plain\r\nExpect: 100-continue\r\nContent-Length: 100\r\n"))
        assert wire.reply()[0] == 415
        assert wire.closed()
    with Wire(daemon) as wire:
        wire.send(post(JSON + b"Expect: 100-continue\r\nContent-Length: 2\r\n"))
        assert wire.reply()[0] == 100
        wire.send(b"{}")
        assert wire.reply()[0] == 422


def test_tls_on_the_plain_port(daemon):
    """A TLS hello holds no newline: it is cut off after its time for headers."""
    with Wire(daemon) as wire:
        wire.send(bytes.fromhex("160301020001000c0c0303") + bytes(64))
        assert daemon.get("/healthz")["status"] == "ok"


def test_idle_connections_do_no_harm(daemon):
    """Many connections that say nothing, or half a request, leave room for others."""
    wires = [Wire(daemon) for _ in range(300)]
    for i, wire in enumerate(wires):
        wire.send([b"", b"G", b"GET /healthz HTTP/1.1\r\nHost: loc"][i % 3])
    assert daemon.get("/healthz")["status"] == "ok"
    for wire in wires:
        wire.socket.close()
