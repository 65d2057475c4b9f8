"""Compiled templates and what lint asks of them (Spec 02 sections 2 and 6)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcpx.rendering.template import (
    Placeholder,
    Template,
    Token,
    compile_argv_template,
    compile_cli,
    fault,
    is_arg_name,
    is_flag,
    placeholders,
)


def by_text(template: Template) -> dict[str, Token]:
    return {token.text: token for token in template.tokens}


def test_a_template_keeps_where_each_token_stands_in_the_manifest() -> None:
    template = compile_cli(("bin", "x", "--", "{{a}}"), ("-o", "json"))
    assert [(token.place, token.text) for token in template.tokens] == [
        (1, "x"),
        (-1, "-o"),
        (-1, "json"),
        (2, "--"),
        (3, "{{a}}"),
    ]
    template = compile_argv_template(("{{a}}", "{{verb}}"), "setup.apply")
    assert [token.place for token in template.tokens] == [0, 1]


def test_placeholders_are_told_with_their_tokens_in_order() -> None:
    template = compile_cli(("bin", "--to", "{{to}}", "{{a}}:{{b}}", "{{to}}"))
    first, second, third, fourth = placeholders(template)
    assert [(one.name, one.token.place) for one in (first, second, third, fourth)] == [
        ("to", 2),
        ("a", 3),
        ("b", 3),
        ("to", 4),
    ]
    assert first == Placeholder("to", Token(2, "{{to}}", ("to",), ("", ""), "--to", lone=True))
    assert second.token == Token(3, "{{a}}:{{b}}", ("a", "b"), ("", ":", ""), seated=True)
    assert fourth.token == Token(4, "{{to}}", ("to",), ("", ""), lone=True, alone=True, seated=True)
    assert template.names == ("to", "a", "b")


def test_the_flag_in_front_is_told_and_only_the_one_directly_in_front() -> None:
    tokens = by_text(compile_cli(("bin", "--dry-run", "{{path}}", "{{a}}", "--x=1", "{{b}}", "{{c}}{{d}}")))
    assert [tokens[text].flag for text in ("{{path}}", "{{a}}", "{{b}}", "{{c}}{{d}}")] == [
        "--dry-run",
        None,
        None,
        None,
    ]


def test_a_token_behind_a_literal_mark_stands_alone_whatever_is_in_front_of_it() -> None:
    tokens = by_text(compile_cli(("bin", "-x", "{{a}}", "--", "-y", "{{b}}", "--c={{c}}", "k={{d}}")))
    assert [(token.behind, token.alone, token.seated) for token in tokens.values()] == [
        (False, False, False),
        (False, False, False),
        (False, False, False),
        (True, False, False),
        (True, True, True),
        (True, False, False),
        (True, False, True),
    ]


def test_the_verb_of_an_argv_template_is_no_arg() -> None:
    template = compile_argv_template(("{{verb}}", "{{a}}-{{verb}}"), "setup.apply")
    assert (template.verb, template.names) == ("apply", ("a",))
    assert [one.name for one in placeholders(template)] == ["a"]
    unused = compile_argv_template(("{{a}}",), "setup.apply")
    assert (unused.verb, unused.names) == (None, ("a",))
    assert compile_cli(("bin", "{{verb}}")).names == ("verb",)
    assert [one.name for one in placeholders(compile_cli(("bin", "{{verb}}")))] == ["verb"]


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        *(("-x", True), ("--x", True), ("---", True), ("-5", True), ("-", False), ("--", False)),
        *(("--x=1", False), ("x", False), ("", False)),
    ],
)
def test_what_counts_as_a_flag(text: str, flag: bool) -> None:
    assert is_flag(text) is flag


@pytest.mark.parametrize(
    ("tokens", "found"),
    [
        ((), (-1, "has no token")),
        (("bin", "a\0b"), (1, "holds NUL")),
        (("bin", "x", "\ud800"), (2, "holds a lone surrogate")),
        (("bin", "é {{a}}", ""), None),
    ],
    ids=ascii,
)
def test_what_no_argv_can_hold_is_found_with_its_place(tokens: tuple[str, ...], found: tuple[int, str] | None) -> None:
    assert fault(tokens) == found


@given(st.text("aZ_-09.é{} ") | st.text())
def test_an_arg_name_is_what_the_specification_writes(text: str) -> None:
    assert is_arg_name(text) == (re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", text) is not None)


@given(st.text("{}a b", max_size=12))
def test_a_token_is_its_pieces_around_its_placeholders(text: str) -> None:
    (token,) = compile_argv_template((text,), "go").tokens
    if token.names:
        rebuilt = token.pieces[0] + "".join(
            f"{{{{{name}}}}}{piece}" for name, piece in zip(token.names, token.pieces[1:], strict=True)
        )
        assert rebuilt == text
        assert set(token.names) <= {"a"} | set(re.findall(r"[ab]+", text))
    else:
        assert re.search(r"\{\{[A-Za-z_][A-Za-z0-9_-]*\}\}", text) is None
