"""A network list: no more than the listed hosts, by name and by address (Spec 04 section 2, network)."""

from __future__ import annotations

import http.server
import os
import pathlib
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator

import pytest

from hcpx.sandbox.job import Ended, NotStarted
from hcpx.sandbox.network_list import NetworkList, normal
from hcpx.sandbox.proxy import Decision, Proxy
from hcpx.vocabulary.invocation import Contact
from tests.sandbox_isolation.bench import Bench


@pytest.mark.parametrize(
    ("entry", "host", "port", "named"),
    [
        ("api.example.com", "api.example.com", 443, True),
        ("api.example.com", "API.Example.COM.", 80, True),
        ("api.example.com:443", "api.example.com", 443, True),
        ("api.example.com:443", "api.example.com", 80, False),
        ("example.com", "api.example.com", 443, False),
        ("example.com", "example.com.evil.net", 443, False),
        ("example.com", "notexample.com", 443, False),
        ("bücher.example", "xn--bcher-kva.example", 443, True),
        ("127.0.0.1:8080", "127.0.0.1", 8080, True),
        ("127.0.0.1:8080", "::ffff:127.0.0.1", 8080, True),
        ("[::1]:8080", "::1", 8080, True),
        ("[::1]:8080", "0:0:0:0:0:0:0:1", 8080, True),
        ("::1", "::1", 1, True),
        ("localhost:80", "localhost", 80, True),
        ("localhost:80", "127.0.0.1", 80, True),
        ("localhost:80", "127.0.0.2", 80, False),
    ],
)
def test_a_host_is_named_whole_or_not_at_all(entry: str, host: str, port: int, named: bool) -> None:
    assert NetworkList((entry,)).names(host, port) is named


@pytest.mark.parametrize(
    "text",
    [
        "",
        "*",
        "*.example.com",
        "a b",
        "example.com:0",
        "example.com:99999",
        "example.com:x",
        "http://a",
        "1.2.3",
        "-a.b",
        "a..b",
    ],
)
def test_an_entry_that_is_no_host_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"no host|no port"):
        NetworkList((text,))


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "0.0.0.0",  # noqa: S104 - an address to refuse
        "224.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1", "240.0.0.1", "::1", "::", "fe80::1",
        "fc00::1", "fec0::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1",
        "2002:7f00:1::", "2001:db8::1",
        "2002:a9fe:a9fe::1", "::7f00:1",
    ],
)  # fmt: skip
def test_an_address_that_is_not_public_is_refused_unless_it_is_listed_itself(address: str) -> None:
    assert NetworkList(("example.com",)).reaches(address, 443) is False
    text = f"[{address}]:443" if ":" in address else f"{address}:443"
    assert NetworkList((text,)).reaches(address, 443) is True
    assert NetworkList((text,)).reaches(address, 80) is False


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "64:ff9b::5db8:d70e"])
def test_a_public_address_is_reached_for_any_name_that_is_listed(address: str) -> None:
    assert NetworkList(("example.com",)).reaches(address, 443) is True


def test_a_name_has_one_form() -> None:
    assert [normal(text) for text in ("A.B.", "[::FFFF:1.2.3.4]", "::0001")] == ["a.b", "1.2.3.4", "::1"]


class Web(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = f"{self.path} for {self.headers['Host']}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"got " + self.rfile.read(length))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as its base has it
        pass


@pytest.fixture
def web() -> Iterator[int]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Web)
    yield from _served(server)


@pytest.fixture
def tls(bench: Bench) -> Iterator[int]:
    key, certificate = os.path.join(bench.folder, "key.pem"), os.path.join(bench.pack, "certificate.pem")
    make = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    argv = [*make.split(), "-addext", names, "-keyout", key, "-out", certificate]
    subprocess.run(argv, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Web)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    yield from _served(server)


def _served(server: http.server.ThreadingHTTPServer) -> Iterator[int]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    thread.join()
    server.server_close()


def curl(bench: Bench, *arguments: str, network: tuple[str, ...]) -> Ended:
    job = bench.job("/usr/bin/curl", "-sS", "-m", "20", *arguments, network=network)
    outcome = bench.backend.run(job)
    assert isinstance(outcome, Ended), outcome
    return outcome


@pytest.mark.slow
def test_a_listed_host_is_reached_over_tls(bench: Bench, tls: int) -> None:
    url = f"https://localhost:{tls}/x"
    told = curl(bench, "--cacert", "/pack/certificate.pem", url, network=(f"localhost:{tls}",))
    assert (told.stdout.decode(), told.stderr) == (f"/x for localhost:{tls}", b"")
    assert told.network == (Contact("localhost", tls, None, 1),)
    assert told.enforced.network == f"proxy: localhost:{tls}"


@pytest.mark.slow
def test_a_host_that_is_not_listed_is_refused_and_told(bench: Bench, tls: int) -> None:
    told = curl(bench, f"https://127.0.0.1:{tls}/x", network=("example.com",))
    assert told.exit_code != 0
    assert told.network == (Contact("127.0.0.1", tls, "not on the network list", 1),)


@pytest.mark.slow
def test_a_plain_request_and_a_body_go_through(bench: Bench, web: int) -> None:
    told = curl(bench, "--data", "x=1", f"http://127.0.0.1:{web}/y", network=(f"127.0.0.1:{web}",))
    assert told.stdout == b"got x=1"


@pytest.mark.slow
def test_there_is_no_way_around_the_proxy(bench: Bench, web: int) -> None:
    listed = (f"127.0.0.1:{web}",)
    told = curl(bench, "--noproxy", "*", f"http://127.0.0.1:{web}/", network=listed)
    assert (told.exit_code, told.network) == (7, ())


@pytest.mark.slow
def test_the_proxy_ends_with_the_run(bench: Bench, web: int) -> None:
    before = threading.active_count()
    script = f"curl -sS http://127.0.0.1:{web}/ >/dev/null; (setsid sleep 60 &); echo end"
    told = bench.backend.run(bench.shell(script, network=(f"127.0.0.1:{web}",)))
    assert isinstance(told, Ended)
    assert threading.active_count() == before


def test_a_list_that_cannot_be_read_starts_nothing(bench: Bench) -> None:
    outcome = bench.backend.run(bench.shell("echo ran >ran", network=("*.example.com",)))
    assert outcome == NotStarted("sandbox_unavailable", "the network list: '*.example.com' is no host")
    assert list(pathlib.Path(bench.workspace).iterdir()) == []


class Through:
    """A proxy on a loopback port, with its names resolved by a table."""

    def __init__(self, entries: tuple[str, ...], names: dict[str, list[str]]) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.decisions: list[Decision] = []
        self.proxy = Proxy(
            self.listener, NetworkList(entries), self.decisions.append, lambda host, _: names.get(host, [])
        )

    def ask(self, request: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as one:
            one.sendall(request)
            one.shutdown(socket.SHUT_WR)
            told = b""
            while piece := one.recv(65536):
                told += piece
        self.proxy.close()
        return told


def test_a_listed_name_that_stands_for_a_private_address_is_refused(web: int) -> None:
    through = Through(("rebound.example",), {"rebound.example": ["127.0.0.1", "::ffff:127.0.0.1", "10.0.0.1"]})
    told = through.ask(f"CONNECT rebound.example:{web} HTTP/1.1\r\n\r\n".encode())
    assert told.startswith(b"HTTP/1.1 403 ")
    assert through.decisions == [Decision("rebound.example", web, "its address is not public and not on the list")]


def test_a_private_address_that_is_listed_too_may_stand_behind_a_listed_name(web: int) -> None:
    through = Through(("db.example", f"127.0.0.1:{web}"), {"db.example": ["10.0.0.1", "127.0.0.1"]})
    told = through.ask(f"GET http://db.example:{web}/p?q=1 HTTP/1.1\r\nHost: other.example\r\n\r\n".encode())
    assert told.endswith(f"/p?q=1 for db.example:{web}".encode())
    assert through.decisions == [Decision("db.example", web)]


@pytest.mark.parametrize(
    ("request_head", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", b"400"),
        (b"GET ftp://a.example/ HTTP/1.1\r\n\r\n", b"400"),
        (b"CONNECT a.example:x HTTP/1.1\r\n\r\n", b"400"),
        (b"CONNECT a.example\x00:443 HTTP/1.1\r\n\r\n", b"400"),
        (b"CONNECT user@a.example:443 HTTP/1.1\r\n\r\n", b"400"),
        (b"GET http://a.example@b.example/ HTTP/1.1\r\n\r\n", b"400"),
        (b"GET http://a.example#b/ HTTP/1.1\r\n\r\n", b"400"),
        (b"garbage\r\n\r\n", b"400"),
        (b"\xff\xfe \xff \xff\r\n\r\n", b"400"),
        (b"GET http://a.example/ HTTP/1.1\r\nX: " + b"x" * 65_536, b"431"),
    ],
)
def test_what_is_no_request_for_a_host_is_refused(request_head: bytes, status: bytes) -> None:
    through = Through(("a.example",), {"a.example": ["127.0.0.1"]})
    assert through.ask(request_head)[:12] == b"HTTP/1.1 " + status
    assert through.decisions == []
