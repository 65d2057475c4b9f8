"""The only way out of a sandbox with a network list: an HTTP proxy of ours (Spec 04 section 2, network).

It takes `CONNECT host:port` and plain requests for `http://host[:port]/...`. Names are looked up here, every
address is held against the list, and the connection goes to the very address that was looked at.
"""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from collections.abc import Callable
from typing import Final

import msgspec

from .network_list import NetworkList, normal, split

_HEAD: Final = 64 * 1024
_CHUNK: Final = 64 * 1024
_CONNECT_S: Final = 20.0
_HEAD_S: Final = 30.0
_AT_ONCE: Final = 128
_OURS: Final = frozenset({b"host", b"connection", b"proxy-connection", b"proxy-authorization", b"keep-alive", b"te"})


class Decision(msgspec.Struct, frozen=True):
    """What was decided for one connection; `why` is None where it was let through."""

    host: str
    port: int
    why: str | None = None


class _Refused(Exception):
    """A connection that is not made: status line, and the decision where there was one to make."""

    def __init__(self, status: str, decision: Decision | None = None) -> None:
        super().__init__(status)
        self.status = status
        self.decision = decision


class Proxy:
    """Serves one listener until closed. `decided` is called for every decision, from the proxy's threads."""

    def __init__(
        self,
        listener: socket.socket,
        allowed: NetworkList,
        decided: Callable[[Decision], None],
        resolve: Callable[[str, int], list[str]] | None = None,
    ) -> None:
        self._listener = listener
        self._allowed = allowed
        self._decided = decided
        self._resolve = resolve or resolved
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._closed = False
        self._places = threading.BoundedSemaphore(_AT_ONCE)
        self._thread = threading.Thread(target=self._accept, name="hcpx-proxy", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End every connection and stop listening."""
        with self._lock:
            self._closed = True
            for one in self._open:
                _shut(one)
        _shut(self._listener)
        self._thread.join()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            self._places.acquire()
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), name="hcpx-proxy", daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            with contextlib.suppress(OSError), self._kept(client):
                self._answer(client)
        finally:
            client.close()
            self._places.release()

    @contextlib.contextmanager
    def _kept(self, one: socket.socket):  # noqa: ANN202 - a context
        with self._lock:
            if self._closed:
                raise OSError("closed")
            self._open.add(one)
        try:
            yield
        finally:
            with self._lock:
                self._open.discard(one)

    def _answer(self, client: socket.socket) -> None:
        client.settimeout(_HEAD_S)
        try:
            line, headers, rest = _head(client)
            host, port, path = _target(line)
            server = self._connected(host, port)
        except _Refused as refused:
            if refused.decision is not None:
                self._decided(refused.decision)
            client.sendall(_page(refused))
            return
        with server, self._kept(server):
            self._decided(Decision(host, port))
            if path is None:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                rest = _forwarded(line, path, host, port, headers) + rest
            server.sendall(rest)
            client.settimeout(None)
            server.settimeout(None)
            _join(client, server)

    def _connected(self, host: str, port: int) -> socket.socket:
        if not self._allowed.names(host, port):
            raise _Refused("403 Forbidden", Decision(host, port, "not on the network list"))
        try:
            addresses = ["127.0.0.1", "::1"] if host == "localhost" else self._resolve(host, port)
        except (OSError, UnicodeError):
            raise _Refused("502 Bad Gateway", Decision(host, port, "its name cannot be resolved")) from None
        usable = [address for address in addresses if self._allowed.reaches(address, port)]
        if not usable:
            raise _Refused("403 Forbidden", Decision(host, port, "its address is not public and not on the list"))
        for address in usable:
            with contextlib.suppress(OSError):
                return socket.create_connection((address, port), timeout=_CONNECT_S)
        raise _Refused("502 Bad Gateway", Decision(host, port, "cannot be reached"))


def resolved(host: str, port: int) -> list[str]:
    """Return the addresses of a name, each once. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]).split("%")[0] for *_, address in found))


def _head(client: socket.socket) -> tuple[bytes, list[bytes], bytes]:
    """Read a request's head: its first line, its header lines, and what came behind it."""
    data = b""
    while b"\r\n\r\n" not in data:
        if len(data) > _HEAD:
            raise _Refused("431 Request Header Fields Too Large")
        piece = client.recv(_CHUNK)
        if not piece:
            raise OSError("ended")
        data += piece
    head, _, rest = data.partition(b"\r\n\r\n")
    line, *headers = head.split(b"\r\n")
    return line, headers, rest


def _target(line: bytes) -> tuple[str, int, bytes | None]:
    """Return host (in its one form), port, and the path of a plain request (None for CONNECT)."""
    method, uri, version = (*line.split(b" "), b"", b"", b"")[:3]
    scheme, _, behind = uri.partition(b"://")
    authority, slash, path = behind.partition(b"/")
    is_plain = method != b"CONNECT"
    if not version.startswith(b"HTTP/1.") or line.count(b" ") != 2 or (is_plain and scheme.lower() != b"http"):
        raise _Refused("400 Bad Request")
    try:
        host, port = split((authority if is_plain else uri).decode("ascii"), 80 if is_plain else 443)
        return normal(host), port or 443, slash + path or b"/" if is_plain else None
    except ValueError:
        raise _Refused("400 Bad Request") from None


def _forwarded(line: bytes, path: bytes, host: str, port: int, headers: list[bytes]) -> bytes:
    """Return the head that the server gets: for the host that was allowed, and for this one request."""
    name = f"[{host}]" if ":" in host else host
    authority = name if port == 80 else f"{name}:{port}"
    kept = [header for header in headers if header.split(b":")[0].strip().lower() not in _OURS]
    first = line.split(b" ")[0] + b" " + path + b" HTTP/1.1"
    return b"\r\n".join([first, b"Host: " + authority.encode(), b"Connection: close", *kept, b"", b""])


def _page(refused: _Refused) -> bytes:
    decision = refused.decision
    why = refused.status if decision is None else f"{decision.host}:{decision.port}: {decision.why}"
    body = f"hcpx: {why}\n".encode("ascii", "backslashreplace")
    head = f"HTTP/1.1 {refused.status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"Connection: close\r\n\r\n" + body


def _join(one: socket.socket, other: socket.socket) -> None:
    """Pass bytes both ways until both sides have ended."""
    others = {one: other, other: one}
    reading = [one, other]
    while reading:
        for source in select.select(reading, [], [])[0]:
            data = source.recv(_CHUNK)
            if data:
                others[source].sendall(data)
            else:
                reading.remove(source)
                with contextlib.suppress(OSError):
                    others[source].shutdown(socket.SHUT_WR)


def _shut(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
