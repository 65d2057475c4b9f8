"""Templates of argument lists, compiled once from a manifest's tokens (Spec 02 section 2).

A `Template` answers what rendering, lint and shims ask of a token: which placeholders it holds, which flag
stands in front of it, whether it stands alone, whether it lies behind a literal `--`.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from hcpx.vocabulary.json_text import has_surrogate

END_OF_OPTIONS: Final = "--"
VERB: Final = "verb"
_PLACEHOLDER: Final = r"\{\{([A-Za-z_][A-Za-z0-9_-]*)\}\}"


def is_arg_name(text: str) -> bool:
    """Tell whether `text` can name an arg: `[A-Za-z_][A-Za-z0-9_-]*` (Spec 02 section 1)."""
    return text.isascii() and text[:1] != "-" and text.replace("-", "_").isidentifier()


class Token(msgspec.Struct, frozen=True):
    """One token of a template.

    `place` is its index in the manifest's list (-1 for the JSON flag), `text` what is written there.
    `names` are its placeholders in order, with `pieces` of literal text in front of, between and behind them.
    `flag` is the literal flag directly in front, which goes where this token drops (rule 4).
    `behind` is true where a literal `--` stands somewhere before, `lone` where the token is one placeholder
    and nothing else. `alone` and `seated` serve rule 6: a token
    that stands alone, and one that would take the place of another: alone, or mixed and no option.
    """

    place: int
    text: str
    names: tuple[str, ...] = ()
    pieces: tuple[str, ...] = ()
    flag: str | None = None
    behind: bool = False
    lone: bool = False
    alone: bool = False
    seated: bool = False


class Template(msgspec.Struct, frozen=True):
    """A compiled template: its tokens in the order of the argv, those of the JSON flag among them.

    `verb` is what `{{verb}}` stands for where an `argv_template` uses it, else None (rule 7).
    """

    tokens: tuple[Token, ...]
    verb: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The args that the template asks for, each once, in order."""
        found = dict.fromkeys(name for token in self.tokens for name in token.names)
        if self.verb is not None:
            del found[VERB]
        return tuple(found)


class Placeholder(msgspec.Struct, frozen=True):
    """One use of an arg in a template: which arg, in which token."""

    name: str
    token: Token


def is_flag(text: str) -> bool:
    """Tell whether a literal token is a flag: begins with `-`, is not `-` or `--`, has no `=` (rule 4)."""
    return text.startswith("-") and text not in ("-", END_OF_OPTIONS) and "=" not in text


def compile_cli(cli: tuple[str, ...], json_flag: tuple[str, ...] = ()) -> Template:
    """Compile a command's `cli`; its first token is the bin's name and is dropped (rule 1)."""
    return Template(_tokens(tuple(enumerate(cli))[1:], json_flag))


def compile_argv_template(argv_template: tuple[str, ...], verb_key: str, json_flag: tuple[str, ...] = ()) -> Template:
    """Compile a pack's `argv_template` for one command; `{{verb}}` is the tail of its verb_key (rule 7)."""
    tokens = _tokens(tuple(enumerate(argv_template)), json_flag)
    used = any(VERB in token.names for token in tokens)
    return Template(tokens, verb_key.rpartition(".")[2] if used else None)


def placeholders(template: Template) -> tuple[Placeholder, ...]:
    """Return every use of an arg in the order of the argv, `{{verb}}` of an `argv_template` left out."""
    return tuple(
        Placeholder(name, token)
        for token in template.tokens
        for name in token.names
        if template.verb is None or name != VERB
    )


def fault(tokens: tuple[str, ...]) -> tuple[int, str] | None:
    """Return the index of the first token that no argv can hold, and why; None where all can be rendered.

    For `cli` and `argv_template` alike: a list without a token has no index but -1.
    """
    if not tokens:
        return -1, "has no token"
    for place, text in enumerate(tokens):
        if "\0" in text:
            return place, "holds NUL"
        if has_surrogate(text):
            return place, "holds a lone surrogate"
    return None


def _tokens(listed: tuple[tuple[int, str], ...], json_flag: tuple[str, ...]) -> tuple[Token, ...]:
    """Compile the tokens and set the JSON flag where it belongs (rule 8)."""
    compiled: list[Token] = []
    flag, behind = None, False
    for place, text in listed:
        pieces, names = _split(text)
        compiled.append(_token(place, text, pieces, names, flag, behind=behind))
        flag = text if not names and is_flag(text) else None
        behind = behind or text == END_OF_OPTIONS
    end = next((at for at, token in enumerate(compiled) if token.text == END_OF_OPTIONS), len(compiled))
    if not _holds(compiled[:end], json_flag):
        compiled[end:end] = [Token(-1, text) for text in json_flag]
    return tuple(compiled)


def _token(
    place: int, text: str, pieces: tuple[str, ...], names: tuple[str, ...], flag: str | None, *, behind: bool
) -> Token:
    if not names:
        return Token(place, text, behind=behind)
    lone = pieces == ("", "")
    alone = lone and (flag is None or behind)
    seated = alone or not (lone or text.startswith("-"))
    return Token(place, text, names, pieces, flag, behind, lone, alone, seated)


def _split(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the literal pieces of a token and the names between them."""
    if "{{" not in text:
        return (text,), ()
    if text.startswith("{{") and text.endswith("}}") and is_arg_name(text[2:-2]):
        return ("", ""), (text[2:-2],)
    parts = re.split(_PLACEHOLDER, text)
    return tuple(parts[::2]), tuple(parts[1::2])


def _holds(tokens: list[Token], run: tuple[str, ...]) -> bool:
    """Tell whether the literal tokens hold `run` side by side."""
    texts = [None if token.names else token.text for token in tokens]
    return any(texts[at : at + len(run)] == list(run) for at in range(len(texts) - len(run) + 1))
