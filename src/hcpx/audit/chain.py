"""The hash chain, pure: how a record becomes a link, and whether a link follows another (Spec 06 section 2).

A link is one line of JSON that begins with its number and the hash of the link before it, and its own hash
is the SHA-256 of that very line: `sha256sum` of a line is the `prev` of the next. The `prev` of the first is
made from the tenant's name, so that no chain passes for another tenant's.
"""

from __future__ import annotations

import hashlib
from typing import Final, NamedTuple

import msgspec

from hcpx.ports.rows import ChainedRecord, ChainHead
from hcpx.vocabulary.json_text import mended
from hcpx.vocabulary.record import AuditRecord

_encode: Final = msgspec.json.Encoder().encode
_LAST_STEP: Final = 7
_HASH_DIGITS: Final = 64


class Opening(NamedTuple):
    """What a line says of its own place: its number, and the hash that it follows."""

    seq: int
    prev: bytes


def beginning(tenant: str) -> ChainHead:
    """Return the head of a chain that has no record yet."""
    return ChainHead(0, hashlib.sha256(b"hcpx audit chain of " + tenant.encode()).digest())


def body(record: AuditRecord) -> bytes:
    """Return a record as one flat JSON object: the attribution's fields stand beside the others."""
    try:
        attribution, whole = _encode(record.attribution), _encode(record)
    except UnicodeEncodeError:
        return _mended_body(record)
    before = whole.index(b'"attribution":')
    flat = whole[:before] + attribution[1:-1] + whole[before + 14 + len(attribution) :]
    # A field with its default is left out; the step is asked for too often to be guessed.
    return b'{"step":7,' + flat[1:] if record.step == _LAST_STEP else flat


def _mended_body(record: AuditRecord) -> bytes:
    fields: dict[str, object] = msgspec.to_builtins(record)
    attribution: dict[str, object] = msgspec.to_builtins(record.attribution)
    del fields["attribution"]
    return _encode(mended({"step": record.step, **fields, **attribution}))


def link(head: ChainHead, record: AuditRecord, text: bytes) -> ChainedRecord:
    """Return the link that follows `head`; `text` is the record's `body`."""
    seq = head.seq + 1
    line = b'{"seq":%d,"prev":"%s",%s' % (seq, head.hash.hex().encode(), text[1:])
    return ChainedRecord(seq, hashlib.sha256(line).digest(), line, record.audit_id, record.attribution.at)


def follows(record: ChainedRecord, seq: int, prev: bytes) -> bool:
    """Tell whether a stored link is the one of that number behind that hash, whole and under its own name."""
    return (
        record.seq == seq
        and record.text.startswith(b'{"seq":%d,"prev":"%s",' % (seq, prev.hex().encode()))
        and is_whole(record)
    )


def is_whole(record: ChainedRecord) -> bool:
    """Tell whether a stored link is what was hashed, and is found under its own id and time."""
    text = record.text
    if hashlib.sha256(text).digest() != record.hash:
        return False
    time = text.find(b'"at":')
    return text.startswith(_encode(record.at), time + 5) and (
        text.find(b'"audit_id":' + _encode(record.audit_id), 0, time) > 0
    )


def opening(text: bytes) -> Opening | None:
    """Return what a line says of its place, or None where it is no link."""
    number, comma, rest = text.removeprefix(b'{"seq":').partition(b',"prev":"')
    digits, quote = rest[:_HASH_DIGITS], rest[_HASH_DIGITS : _HASH_DIGITS + 2]
    if not (text.startswith(b'{"seq":') and comma and quote == b'",' and number.isdigit()):
        return None
    try:
        return Opening(int(number), bytes.fromhex(digits.decode()))
    except ValueError:
        return None
