"""Reads what a program prints for `--help`: which commands it has, and which arguments one takes.

Pure: the text comes in, whoever ran the program ran it in the sandbox. Understood are the styles of argparse,
click, cobra, git and GNU; what is not understood is left out, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

MAX_TEXT: Final = 1024 * 1024
_MAX_LINE: Final = 2000
_MAX_SUMMARY: Final = 200


class Listed(msgspec.Struct, frozen=True):
    """One command that a help text lists."""

    name: str
    summary: str


class Argument(msgspec.Struct, frozen=True):
    """One argument that takes a value: an option with its `flag`, or a positional without."""

    name: str
    flag: str | None
    required: bool
    about: str = ""


_WORD: Final = r"[A-Za-z][A-Za-z0-9_:.-]*"
_ENTRY: Final = re.compile(
    rf"^(?P<indent>[ \t]+)(?P<name>{_WORD})(?:,[ ]?{_WORD})*\*?(?P<args>(?:[ ][\[<{{A-Z|.][^ ]*)*)"
    r"(?::?[ \t]{2,}|:[ ]|[ ]-[ ]|:?$)(?P<summary>.*)$"
)
_COMMANDS_AHEAD: Final = re.compile(r"\b(sub)?commands?\b", re.IGNORECASE)
_OTHER_AHEAD: Final = re.compile(
    r"^\W*(global |common |general |other |inherited |optional |positional |management |advanced )*"
    r"(options?|flags?|arguments?|args|usage|examples?|environment( variables)?|aliases|learn more|see also"
    r"|description|author|parameters|exit (status|codes?)|variables|notes?)\b[^.]*:?$",
    re.IGNORECASE,
)
_CHOICES: Final = re.compile(r"^[ \t]+\{[^{}]+\}(?:[ \t].*)?$")
_COMMA_LIST: Final = re.compile(rf"^[ \t]+{_WORD}(?:,[ ]*{_WORD})+,?$")
_NO_HEADING: Final = ("usage", "use ", "run ", "for ", "see ")
_NOT_COMMANDS: Final = frozenset({"help", "completion", "completions", "usage", "options", "note", "or"})


def listed_commands(text: str) -> tuple[Listed, ...]:
    """Return the commands that a help text lists, in its order, each once."""
    found: dict[str, Listed] = {}
    for one in _entries(_lines(text)):
        if one.name.lower() not in _NOT_COMMANDS:
            found.setdefault(one.name, one)
    return tuple(found.values())


def arguments(text: str, words: tuple[str, ...] = ()) -> tuple[Argument, ...]:
    """Return the arguments with values that a help text tells of the command `words`, positionals last."""
    lines = _lines(text)
    usage = _usage(lines)
    options = {one.name: one for one in _options(lines, usage)}
    positionals = {one.name: one for one in _positionals(usage, words, set(options))}
    return (*options.values(), *positionals.values())


def json_flag(text: str) -> tuple[str, ...]:
    """Return the flag by which, so the help text, the program answers in JSON; empty where it says none."""
    lines = _lines(text)
    for place, line in enumerate(lines):
        option = _OPTION.match(line)
        if option is None:
            continue
        flag, value = option["long"], option["value"]
        if flag == "--json" and not value:
            return (flag,)
        said = f"{line} {_about(lines, place)}".lower()
        if flag in ("--format", "--output", "--output-format") and value and re.search(r"\bjson\b", said):
            return (flag, "json")
    return ()


def _lines(text: str) -> list[str]:
    # Help of man pages comes with overstrikes and colours.
    plain = re.sub(r".\x08|\x1b\[[0-9;]*[A-Za-z]", "", text[:MAX_TEXT])
    return [line[:_MAX_LINE].rstrip() for line in plain.expandtabs().splitlines()]


def _entries(lines: list[str]) -> Iterator[Listed]:
    inside, indent, pending = False, -1, None
    for line in lines:
        blank = not line.strip()
        heading = not blank and not line.startswith(" ")
        if heading or _CHOICES.match(line):
            yield from _closed(pending)
            pending, indent = None, -1
            inside = bool(_CHOICES.match(line)) or _goes_on(line, inside=inside)
            continue
        if blank or not inside:
            continue
        depth = len(line) - len(line.lstrip())
        if _COMMA_LIST.match(line) and indent in (-1, depth):
            for name in line.replace(",", " ").split():
                yield Listed(name, "")
            continue
        entry = _ENTRY.match(line)
        if entry is not None and indent in (-1, depth):
            yield from _closed(pending)
            indent, pending = depth, Listed(entry["name"].rstrip(":"), entry["summary"].strip())
        elif pending is not None and depth > indent:
            summary = f"{pending.summary} {line.strip()}".strip()
            pending = Listed(pending.name, summary)
    yield from _closed(pending)


def _goes_on(heading: str, *, inside: bool) -> bool:
    """Tell whether commands are listed below a heading; below them, git has headings that do not say so."""
    prose = heading.endswith(".") or "'" in heading or heading.lower().startswith(_NO_HEADING)
    if prose:
        return False
    return _COMMANDS_AHEAD.search(heading) is not None or (inside and not _OTHER_AHEAD.match(heading))


def _closed(pending: Listed | None) -> Iterator[Listed]:
    if pending is not None:
        yield Listed(pending.name, pending.summary[:_MAX_SUMMARY])


_METAVAR: Final = (
    r"<[^>]+>|\[<?[A-Za-z][^\]]*\]|\{[^}]+\}|[A-Z][A-Z0-9_|.:-]*"
    r"|(?:string|strings|int|ints|uint|float|float64|duration|stringArray|stringSlice|file|path)\b"
)
_OPTION: Final = re.compile(
    rf"^[ ]+(?:-[A-Za-z0-9](?:[ =](?:{_METAVAR}))?,?[ ]+)?(?P<long>--[A-Za-z][A-Za-z0-9-]*)"
    rf"(?:[ =]?(?P<value>(?:(?<=[ =])|(?=\[=))(?:\[=[^\]]+\]|{_METAVAR})))?(?:,[ ]-[A-Za-z].*)?"
    r"(?:[ ]{2,}(?P<about>.*)|$)"
)
_USAGE: Final = re.compile(r"^\s*usage:?\s*(?P<rest>.*)$", re.IGNORECASE)
_GENERIC: Final = frozenset(
    {
        *("option", "options", "flag", "flags", "command", "commands", "subcommand", "args", "arg"),
        *("argument", "arguments", "action", "global-options"),
    }
)


def _usage(lines: list[str]) -> str:
    """Return the first form of the usage line, lines that it goes on to joined."""
    for place, line in enumerate(lines):
        match = _USAGE.match(line)
        if match is None:
            continue
        text = match["rest"]
        for further in lines[place + 1 :]:
            if not further.startswith(" ") or (text and _USAGE_FORM.match(further)):
                break
            if text and not further.strip():
                break
            text = f"{text} {further.strip()}".strip()
            if match["rest"] == "" and text:
                break
        return text
    return ""


_USAGE_FORM: Final = re.compile(r"^\s+(or:|\S+ \[(OPTION|FLAG))", re.IGNORECASE)


def _options(lines: list[str], usage: str) -> Iterator[Argument]:
    asked = {word.partition("=")[0] for word, optional in _groups(usage) if not optional}
    for place, line in enumerate(lines):
        option = _OPTION.match(line)
        if option is None or not option["value"] or option["value"].startswith("[="):
            continue
        about = option["about"] or _about(lines, place)
        flag = option["long"]
        name = _name(flag)
        if name not in ("", "help", "version"):
            yield Argument(name, flag, flag in asked or "[required]" in about, _one_line(about))


def _about(lines: list[str], place: int) -> str:
    """Return the line below an option that is too long to have its description beside it."""
    below = lines[place + 1] if place + 1 < len(lines) else ""
    return below.strip() if below.startswith(" " * 8) and not below.lstrip().startswith("-") else ""


def _groups(usage: str) -> Iterator[tuple[str, bool]]:
    """Yield the words of a usage line, each outermost bracket as one, and whether it is optional."""
    depth, start = 0, 0
    for place, char in enumerate(f"{usage} "):
        if depth == 0 and char in " [(":
            yield from ((word, False) for word in usage[start:place].split())
            start = place
        if char in "[(":
            depth += 1
        elif char in "])" and depth:
            depth -= 1
            if depth == 0:
                yield usage[start : place + 1], True
                start = place + 1


def _positionals(usage: str, words: tuple[str, ...], options: set[str]) -> Iterator[Argument]:
    groups = list(_groups(usage))
    # The program, the words of the command, and everything that belongs to an option are no positionals.
    start = next((at + 1 for at, (word, _) in enumerate(groups) if words and word == words[-1]), 1)
    after_flag = False
    for word, optional in groups[start:]:
        if word.startswith("-"):
            after_flag = "=" not in word and word != "--"
            continue
        bare = word.strip("[]()<>.*+ ")
        plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", bare) is not None and bare.lower() not in _GENERIC
        if plain and not after_flag and _name(bare) not in ("", *options):
            yield Argument(_name(bare), None, not optional)
        after_flag = False


def _name(text: str) -> str:
    """Return an arg's name for a flag or placeholder, or nothing where none can be made."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", text.lstrip("-")).strip("_-").lower()
    if name in ("confirm", "apply"):
        # The runtime reads args of these names itself.
        return f"{name}_"
    return name if re.fullmatch(r"[a-z_][a-z0-9_-]*", name) else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_MAX_SUMMARY]
