"""Which hosts a pack may reach, and which addresses nobody may (Spec 04 section 2, network).

An entry is `host` (any port) or `host:port`; an IPv6 address stands in brackets where a port follows.
Compared whole, without regard to case: there are no patterns. An address that is not on the public internet
is refused even where an allowed name stands for it, unless the list holds that very address; `localhost`
stands for the loopback ones.
"""

from __future__ import annotations

import ipaddress

import msgspec

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_LOCALHOST = ("127.0.0.1", "::1")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class Entry(msgspec.Struct, frozen=True):
    """One host, as text or address in its one form; `port` None means any."""

    host: str
    port: int | None = None


class NetworkList:
    """The list of one job. Raises ValueError for an entry that cannot be read."""

    def __init__(self, entries: tuple[str, ...]) -> None:
        self._entries = frozenset(entry for text in entries for entry in _read(text))

    def names(self, host: str, port: int) -> bool:
        """Tell whether the list holds this host, as the client wrote it."""
        return self._holds(normal(host), port)

    def reaches(self, address: str, port: int) -> bool:
        """Tell whether a connection to this address may be made for a host that the list names."""
        return is_public(ipaddress.ip_address(address)) or self._holds(normal(address), port)

    def _holds(self, host: str, port: int) -> bool:
        return Entry(host, None) in self._entries or Entry(host, port) in self._entries


def normal(host: str) -> str:
    """Return the one form of a host: lower case, no dot at its end, addresses in their shortest form.

    Raises ValueError for what is no host.
    """
    text = host.strip("[]") if host.startswith("[") and host.endswith("]") else host
    try:
        return str(_plain(ipaddress.ip_address(text)))
    except ValueError:
        pass
    name = text.removesuffix(".").lower()
    if not name.isascii():
        name = name.encode("idna").decode("ascii")
    labels = name.split(".")
    if not name or len(name) > 253 or any(not _is_label(label) for label in labels) or labels[-1].isdigit():
        raise ValueError(f"{host!r} is no host")
    return name


def is_public(address: Address) -> bool:
    """Tell whether an address is one of the public internet, also as carried inside of an IPv6 address."""
    address = _plain(address)
    if isinstance(address, ipaddress.IPv6Address):
        if address in _NAT64:
            return is_public(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
        inner = [address.sixtofour, *(address.teredo or ())]
        if address.is_site_local or not all(is_public(one) for one in inner if one is not None):
            return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def _plain(address: Address) -> Address:
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _is_label(label: str) -> bool:
    plain = label.replace("-", "").replace("_", "")
    return plain.isalnum() and len(label) <= 63 and not label.startswith("-") and not label.endswith("-")


def _read(text: str) -> list[Entry]:
    host, port = split(text, None)
    name = normal(host)
    hosts = [name, *_LOCALHOST] if name == "localhost" else [name]
    return [Entry(one, port) for one in hosts]


def split(text: str, port: int | None) -> tuple[str, int | None]:
    """Split `host[:port]`; `port` is what holds where none is written. Raises ValueError."""
    host, colon, digits = text.rpartition(":")
    if not colon or (":" in host and not host.endswith("]")):
        return text, port
    if not (digits.isascii() and digits.isdigit() and 0 < int(digits) < 65536):
        raise ValueError(f"{text!r} has no port")
    return host, int(digits)
