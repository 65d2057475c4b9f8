"""The grammar of `hcpx exec`: a small parser, so that it loads no framework (Spec 05 section 1)."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from hcpx.vocabulary.denial import shell_quoted

USAGE = """\
usage: hcpx exec PACK VERB [options] -- name=value ...
       hcpx exec -          read an envelope from stdin

  Which args a command takes: hcpx pack show PACK VERB

  name=value      a string; true and false for confirm and apply; JSON where the schema takes no string
  name:=JSON      any JSON value
  name=@FILE      the text of a file, @- for stdin;   name:=@FILE  the JSON of a file

options:
  --session TOKEN         call in this session instead of HCP_SESSION or the owner's own
  --json                  print exactly one JSON result
  --mock                  ask for the mock Binding
  --explain               say what steps 1 to 5 would answer, and the exact argv; runs nothing
  --args-json TEXT        the whole args object as JSON, @FILE or @- to read it
  --idempotency-key KEY   a write under this key happens once
  --request-id ID         a name of your own for the call, echoed and audited
  --wait-approval TIME    wait for an approval that is required, such as 90s or 5m
  --native-local          run without isolation; only for the owner of the store
  -h, --help              show this text
"""

VALUED = ("--session", "--args-json", "--idempotency-key", "--request-id", "--wait-approval")
FLAGS = ("--json", "--mock", "--explain", "--native-local", "--help")


class UsageError(Exception):
    """A command line that cannot be read; the message says what is wrong with it."""


class ExecLine(msgspec.Struct, frozen=True):
    """A command line of `hcpx exec`, read but not yet looked up: pack and verb are None for `exec -`."""

    pack_id: str | None = None
    verb_key: str | None = None
    pairs: tuple[str, ...] = ()
    session: str | None = None
    args_json: str | None = None
    idempotency_key: str | None = None
    request_id: str | None = None
    wait_approval_s: float | None = None
    json: bool = False
    mock: bool = False
    explain: bool = False
    native_local: bool = False
    help: bool = False

    def __repr__(self) -> str:
        """Name the command; token and args stay out."""
        return f"ExecLine({self.pack_id!r}, {self.verb_key!r})"


def read_line(words: list[str]) -> ExecLine:
    """Read the words behind `hcpx exec`, or raise `UsageError`."""
    head, pairs = _split(words)
    places: list[str] = []
    given: dict[str, str | bool] = {}
    rest = iter(head)
    for word in rest:
        if word == "-" or not word.startswith("-"):
            places.append(word)
            continue
        name, value = _option(word, rest)
        if name in given:
            raise UsageError(f"{name} given twice")
        given[name] = value
    stdin = places == ["-"]
    if not given.get("--help") and not stdin and len(places) != 2:
        raise UsageError(_places(places))
    if stdin and (pairs or "--args-json" in given or "--mock" in given):
        raise UsageError("hcpx exec - reads the whole envelope from stdin: args have no place on the line")
    wait = given.get("--wait-approval")
    return ExecLine(
        pack_id=None if len(places) != 2 else places[0],
        verb_key=None if len(places) != 2 else places[1],
        pairs=tuple(pairs),
        session=_text(given, "--session"),
        args_json=_text(given, "--args-json"),
        idempotency_key=_text(given, "--idempotency-key"),
        request_id=_text(given, "--request-id"),
        wait_approval_s=seconds(wait) if isinstance(wait, str) else None,
        json="--json" in given,
        mock="--mock" in given,
        explain="--explain" in given,
        native_local="--native-local" in given,
        help="--help" in given,
    )


def wants_json(words: list[str]) -> bool:
    """Tell whether errors of this line are to be JSON too, however wrong the rest of it is."""
    return "--json" in _split(words)[0]


def seconds(text: str) -> float:
    """Read a time such as `90s`, `5m`, `8h` or `2d` as seconds, or raise `UsageError`."""
    units = {"s": 1, "m": 60, "h": 3600, "d": 86400}
    number, unit = (text[:-1], text[-1:]) if text[-1:] in units else (text, "s")
    if not number.isascii() or not number.isdecimal() or len(number) > 9 or int(number) == 0:
        raise UsageError(f"not a time: {text!r}; write 90s, 5m, 8h or 2d")
    return float(int(number) * units[unit])


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    if "--" not in words:
        return words, []
    place = words.index("--")
    return words[:place], words[place + 1 :]


def _option(word: str, rest: Iterator[str]) -> tuple[str, str | bool]:
    name, equals, value = word.partition("=")
    if word == "-h":
        return "--help", True
    if name in FLAGS and not equals:
        return name, True
    if name not in VALUED:
        raise UsageError(f"unknown option {name}; args of the command go behind --")
    if equals:
        return name, value
    following = next(rest, None)
    if following is None:
        raise UsageError(f"{name} needs a value")
    return name, following


def _text(given: dict[str, str | bool], name: str) -> str | None:
    value = given.get(name)
    return value if isinstance(value, str) else None


def _places(places: list[str]) -> str:
    if not places:
        return "a pack and a verb are missing: hcpx exec PACK VERB -- name=value"
    if len(places) == 1:
        return f"the verb is missing: hcpx exec PACK VERB -- name=value; see: hcpx pack show {shell_quoted(places[0])}"
    return f"too many words: {places[2]!r}; args of the command go behind --"
