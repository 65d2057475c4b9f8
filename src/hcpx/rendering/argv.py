"""One call's argv from a compiled template, purely (Spec 02 section 2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from hcpx.vocabulary.denial import Denial
from hcpx.vocabulary.json_text import has_surrogate

from .ecmascript import string
from .refusal import pointer, refused
from .template import VERB, Template, Token
from .traits import PLAIN, Trait

_PLAIN_NUMBER: Final = r"-(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"


def render(template: Template, args: Mapping[str, object], traits: Mapping[str, Trait]) -> tuple[str, ...] | Denial:
    """Return the argv behind the program's name, or the `invalid_args` denial of the first arg in its way.

    Text that a value brings along is never looked at again: no placeholder in it is filled in.
    """
    if template.verb is not None:
        args = {**args, VERB: template.verb}
    argv: list[str] = []
    missing: str | None = None
    for token in template.tokens:
        if not token.names:
            argv.append(token.text)
            continue
        for name in token.names:
            if args.get(name) is not None:
                break
        else:
            if token.flag is not None:
                argv.pop()
            if token.alone and missing is None:
                missing = token.names[0]
            continue
        if missing is not None and token.seated:
            return refused((missing,), f"missing, and {pointer((name,))} would take its place")
        text = _argument(token, name, args, traits)
        if isinstance(text, Denial):
            return text
        argv.append(text)
    return tuple(argv)


def _argument(token: Token, given: str, args: Mapping[str, object], traits: Mapping[str, Trait]) -> str | Denial:
    """Fill in one token that has a value, `given` being the first arg that has one."""
    text = _value(given, args[given]) if token.lone else _mixed(token, args)
    if isinstance(text, str) and text.startswith("-"):
        return _option(token, args, traits) or text
    return text


def _value(name: str, value: object) -> str | Denial:
    """Return one value as text (rules 3 and 10)."""
    text = string(value)
    if text is None:
        return refused((name,), "an object cannot become an argument")
    if "\0" in text:
        return refused((name,), "holds NUL")
    if not text.isascii() and has_surrogate(text):
        return refused((name,), "holds a lone surrogate")
    return text


def _mixed(token: Token, args: Mapping[str, object]) -> str | Denial:
    """Fill in a token of texts and placeholders; a missing value is empty (rule 4)."""
    filled = [token.pieces[0]]
    for name, piece in zip(token.names, token.pieces[1:], strict=True):
        value = args.get(name)
        text = "" if value is None else _value(name, value)
        if isinstance(text, Denial):
            return text
        filled += (text, piece)
    return "".join(filled)


def _option(token: Token, args: Mapping[str, object], traits: Mapping[str, Trait]) -> Denial | None:
    """Refuse a token that begins with a `-` which the template did not write there (rule 9)."""
    if token.behind or token.text.startswith("-"):
        return None
    filled = zip(token.names, token.pieces[1:], strict=True)
    name = next(name for name, piece in filled if string(args.get(name)) or piece)
    value = args.get(name)
    if string(value):
        allowed = _may_begin_with_dash(value, traits.get(name, PLAIN))
        return None if allowed else refused((name,), 'begins with "-"')
    # The template's own dash, which came to the front because nothing stands before it.
    first = token.names[0]
    state = "missing" if args.get(first) is None else "empty"
    return refused((first,), f'{state}, and the argument would begin with "-"')


def _may_begin_with_dash(value: object, trait: Trait) -> bool:
    if isinstance(value, str):
        number = not trait.string_only and re.fullmatch(_PLAIN_NUMBER, value) is not None
        return trait.allow_dash or number
    return trait.allow_dash or isinstance(value, (int, float))
