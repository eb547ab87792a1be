"""The page as a browser gets it: types, tags, policy, and that every part it names is served."""
import gzip
import re

import pytest

from conftest import ROOT

PAGE = ROOT / "server/dashboard/page"
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
POLICY = {"default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' blob:",
          "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"}
LIBRARY = ["/page/lib/dygraph.min.js", "/page/lib/dygraph.min.css"]


def address(file):
    name = file.relative_to(PAGE).as_posix()
    return "/" if name == "index.html" else f"/page/{name}"


FILES = {address(file): file for file in sorted(PAGE.rglob("*")) if file.is_file()}
SOME = ["/", "/page/app.js", "/page/style/base.css", "/page/icon.svg", LIBRARY[0]]


def plain(daemon, path, method="GET", **headers):
    return daemon.request(method, path, headers={"Accept-Encoding": "identity", **headers})


def test_every_file_is_served_as_it_is(daemon):
    for path, file in FILES.items():
        answer = plain(daemon, path)
        assert answer.status_code == 200, path
        assert answer.content == file.read_bytes(), path
        assert answer.headers["Content-Type"] == TYPES[file.suffix], path
        assert "Content-Encoding" not in answer.headers
        assert gzip_of(daemon, path).content == file.read_bytes(), path  # requests unpacks


def gzip_of(daemon, path):
    answer = daemon.request("GET", path, headers={"Accept-Encoding": "gzip"})
    assert answer.headers["Content-Encoding"] == "gzip", path
    return answer


def test_the_chart_library_is_there(daemon):
    for path in LIBRARY:
        assert len(plain(daemon, path).content) > 1000
    assert b"Dygraph" in plain(daemon, LIBRARY[0]).content


def test_what_index_and_modules_name_is_there(daemon):
    named = set(re.findall(r'(?:src|href)="(page/[^"]+)"', (PAGE / "index.html").read_text()))
    assert len(named) > 5
    for path in named:
        assert plain(daemon, "/" + path).status_code == 200, path


@pytest.mark.parametrize("path", SOME)
def test_headers(daemon, path):
    answer = plain(daemon, path)
    assert set(answer.headers["Content-Security-Policy"].split("; ")) == POLICY
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-cache"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert "Accept-Encoding" in answer.headers["Vary"]


@pytest.mark.parametrize("path", SOME)
def test_head_says_what_get_says(daemon, path):
    for coding in ("identity", "gzip"):
        got = daemon.request("GET", path, headers={"Accept-Encoding": coding}, stream=True)
        head = daemon.request("HEAD", path, headers={"Accept-Encoding": coding})
        assert head.status_code == 200 and head.content == b""
        changing = ("X-Request-Id", "Date")
        assert {k: v for k, v in head.headers.items() if k not in changing} == \
            {k: v for k, v in got.headers.items() if k not in changing}
        assert int(head.headers["Content-Length"]) == len(got.raw.read(decode_content=False))


@pytest.mark.parametrize("path", SOME)
def test_tags(daemon, path):
    """Strong, of the content, another for the packed form, and 304 for who has it."""
    tag, packed = plain(daemon, path).headers["ETag"], gzip_of(daemon, path).headers["ETag"]
    assert re.fullmatch(r'"[0-9a-f]{32}"', tag) and packed == tag[:-1] + '-gzip"'
    same = plain(daemon, path, **{"If-None-Match": tag})
    assert same.status_code == 304 and same.content == b"" and same.headers["ETag"] == tag
    assert plain(daemon, path, **{"If-None-Match": f'"other", {tag}'}).status_code == 304
    assert plain(daemon, path, **{"If-None-Match": packed}).status_code == 200
    both = daemon.request("GET", path, headers={"Accept-Encoding": "gzip", "If-None-Match": packed})
    assert both.status_code == 304


def test_tags_tell_files_apart(daemon):
    tags = [plain(daemon, path).headers["ETag"] for path in FILES]
    assert len(set(tags)) == len(tags)


@pytest.mark.parametrize("accepts, packed", [
    ("gzip", True), ("GZIP", True), ("br, gzip;q=0.5", True), ("*", True), ("gzip;q=0, *", False),
    ("gzip;q=0", False), ("br", False), ("identity", False), ("*;q=0", False), ("gzippy", False)])
def test_codings(daemon, accepts, packed):
    answer = daemon.request("GET", "/page/app.js", headers={"Accept-Encoding": accepts}, stream=True)
    assert (answer.headers.get("Content-Encoding") == "gzip") == packed
    raw = answer.raw.read(decode_content=False)
    assert (gzip.decompress(raw) if packed else raw) == FILES["/page/app.js"].read_bytes()


@pytest.mark.parametrize("path", [
    "/page/none.js", "/page", "/page/", "/page/index.html", "/page/views", "/page/views/none.js", "/page/app.js/",
    "/page/views/trial/none.js", "/page/a/b/c/d.js", "/page/%2e%2e/app.js", "/page/..%2fapp.js",
    "/index.html", "/favicon.ico"])
def test_what_is_not_there(daemon, path):
    daemon.refused("GET", path, 404, "not_found")


def test_wrong_requests(daemon):
    daemon.refused("GET", "/?x=1", 400, "invalid_parameter")
    daemon.refused("POST", "/", 405, "method_not_allowed")
    daemon.refused("DELETE", "/page/app.js", 405, "method_not_allowed")
    daemon.refused("GET", "/", 406, "not_acceptable", headers={"Accept": "application/json"})
    daemon.refused("GET", "/page/app.js", 406, "not_acceptable", headers={"Accept": "image/png"})
