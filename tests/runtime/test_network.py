"""A pack's network list, from the call to the audit (Spec 04 section 2)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from tests.runtime.conftest import House


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"page": 1}')

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the name of the base class
        pass


@pytest.fixture
def port() -> Iterator[int]:
    server = HTTPServer(("127.0.0.1", 0), Page)
    Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not here")
def test_only_listed_hosts_are_reached_and_the_audit_names_those_that_were_asked_for(house: House, port: int) -> None:
    cli = ["tool", "-sS", "--max-time", "5"]
    house.installed(
        wrap={"bin": "curl", "json_flag": None, "network": [f"127.0.0.1:{port}"]},
        commands={
            "see": {"summary": "Get it", "cli": [*cli, f"http://127.0.0.1:{port}/"]},
            "stray": {"summary": "Get another", "cli": [*cli, "--fail", "http://127.0.0.2:9/"]},
        },
        policy={"see": {"operation": "read"}, "stray": {"operation": "read"}},
        binding={},
    )
    house.owner.allow("curl")
    result = house.call("see")
    assert (result.ok, result.result) == (True, {"page": 1}), result
    entry = house.runtime.books.audit.show(result.audit_id)
    assert entry is not None
    assert entry["contacts"] == [{"host": "127.0.0.1", "port": port, "refused": None, "times": 1}]
    strayed = house.call("stray")
    assert (strayed.ok, strayed.code) == (False, "exit")
    entry = house.runtime.books.audit.show(strayed.audit_id)
    assert entry is not None
    (contact,) = entry["contacts"]  # type: ignore[misc]  # pyright: ignore[reportGeneralTypeIssues]
    assert contact["host"] == "127.0.0.2"
    assert contact["refused"]
