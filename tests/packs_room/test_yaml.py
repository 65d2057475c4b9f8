"""The YAML reader: 1.2 core schema, bounded, total (Spec 02 section 1, field troubles L1 to L3)."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hcpx.packs.yaml_nodes import MAX_ALIASES, MAX_BYTES, Document, read_yaml


def read(text: str | bytes) -> Document:
    return read_yaml(text.encode() if isinstance(text, str) else text, "pack.yaml")


def value(text: str) -> object:
    document = read(text)
    assert document.findings == []
    assert document.root is not None
    return document.root.plain()


def found(text: str | bytes) -> list[tuple[str, int, int]]:
    return [(one.code, one.line, one.column) for one in read(text).findings]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("no", "no"),
        ("on", "on"),
        ("off", "off"),
        ("yes", "yes"),
        ("y", "y"),
        ("NO", "NO"),
        ("true", True),
        ("True", True),
        ("FALSE", False),
        ("tRue", "tRue"),
        ("null", None),
        ("~", None),
        ("nUll", "nUll"),
        ("10", 10),
        ("-7", -7),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("0b11", "0b11"),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("2026-01-01", "2026-01-01"),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("1.2.0", "1.2.0"),
        ("0x", "0x"),
        ("'10'", "10"),
        ('"true"', "true"),
        ("|\n  10\n", "10\n"),
    ],
)
def test_a_plain_scalar_means_what_the_core_schema_says(text: str, meant: object) -> None:
    got = value(f"key: {text}")
    assert got == {"key": meant}
    assert type(got["key"]) is type(meant)  # pyright: ignore[reportIndexIssue] -- a mapping, as was just asserted


def test_words_that_yaml_1_1_takes_for_booleans_stay_texts_as_keys_too() -> None:
    assert value("on: {no: off}\nyes: [n, Y]") == {"on": {"no": "off"}, "yes": ["n", "Y"]}


def test_an_alias_is_the_value_of_its_anchor() -> None:
    assert value("a: &x [1, {b: 2}]\nc: *x") == {"a": [1, {"b": 2}], "c": [1, {"b": 2}]}


def test_a_merge_key_is_a_key_like_any_other() -> None:
    assert value("a: &x {b: 1}\nc: {<<: *x}") == {"a": {"b": 1}, "c": {"<<": {"b": 1}}}


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("a: 1\nb: 2\na: 3", [("duplicate_key", 3, 1)]),
        ("a: {b: 1, b: 1}", [("duplicate_key", 1, 11)]),
        ("a: 1\n'a': 2", [("duplicate_key", 2, 1)]),
        ("1: a", [("key_not_text", 1, 1)]),
        ("a: 1\ntrue: b", [("key_not_text", 2, 1)]),
        ("? [a]\n: b", [("key_not_text", 1, 3)]),
        ("a: !!str 1", [("yaml_tag", 1, 4)]),
        ("a: !x [1]", [("yaml_tag", 1, 4)]),
        ("a: !!python/object:os.system x", [("yaml_tag", 1, 4)]),
        ("! a", [("yaml_tag", 1, 1)]),
        ("a: .inf", [("bad_number", 1, 4)]),
        ("a: .NaN", [("bad_number", 1, 4)]),
        ("a: 1e999", [("bad_number", 1, 4)]),
        (f"a: {'9' * 4301}", [("bad_number", 1, 4)]),
        (f"a: 0x{'f' * 4000}", [("bad_number", 1, 4)]),
        ('a: "\\0"', [("bad_text", 1, 4)]),
        ('"\\uD800": 1', [("bad_text", 1, 1)]),
        ("a: &a [*a]", [("yaml_alias", 1, 8)]),
        ("a: *b", [("yaml_alias", 1, 4)]),
        ("a: 1\n---\nb: 2", [("yaml_syntax", 2, 1)]),
        ("%YAML 1.1\n---\na: no", [("yaml_syntax", 2, 1)]),
        ("%TAG ! tag:x,2000:\n---\na: 1", [("yaml_syntax", 2, 1)]),
        ("a: [1", [("yaml_syntax", 1, 6)]),
        ("a: b: c", [("yaml_syntax", 1, 5)]),
        ("\ta: 1", [("yaml_syntax", 1, 1)]),
        ("", [("yaml_empty", 0, 0)]),
        ("# nothing", [("yaml_empty", 0, 0)]),
        ("a: \x01", [("yaml_encoding", 1, 4)]),
        (b"a: 1\nb: \xff", [("yaml_encoding", 2, 4)]),
        ("a: 1".encode("utf-16"), [("yaml_encoding", 1, 1)]),
        ("[" * 65, [("yaml_depth", 1, 65)]),
        ("[" * 100_000, [("yaml_depth", 1, 65)]),
        (b"#" * (MAX_BYTES + 1), [("yaml_size", 0, 0)]),
    ],
)
def test_what_is_refused_is_named_with_its_place(text: str | bytes, codes: list[tuple[str, int, int]]) -> None:
    assert found(text) == codes


def test_a_duplicate_key_names_both_lines() -> None:
    (finding,) = read("confirm: true\nother: 1\nconfirm: false").findings
    assert finding.message == 'the key "confirm" stands here a second time; the first is on line 1'
    assert (finding.line, finding.mend) == (3, "keep one of the two")


def test_yaml_1_2_may_say_so_and_a_byte_order_mark_is_no_character() -> None:
    assert value("%YAML 1.2\n---\na: no") == {"a": "no"}
    assert value("\ufeffa: 1") == {"a": 1}


def test_a_bomb_of_aliases_is_refused_by_what_it_would_become() -> None:
    lines = ["a0: &a0 [x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 40)]
    assert found("\n".join(lines)) == [("yaml_alias", 7, 5)]


def test_a_long_text_behind_many_aliases_is_refused_by_what_it_would_become() -> None:
    text = f"a: &x {'y' * 100_000}\nb: [{', '.join(['*x'] * 100)}]"
    assert [code for code, _, _ in found(text)] == ["yaml_alias"]


def test_a_thousand_aliases_are_fine_and_one_more_is_not() -> None:
    fine = f"a: &x 1\nb: [{', '.join(['*x'] * MAX_ALIASES)}]"
    assert value(fine) == {"a": 1, "b": [1] * MAX_ALIASES}
    assert [code for code, _, _ in found(fine.replace("]", ", *x]"))] == ["yaml_alias"]


def test_aliases_do_not_nest_deeper_than_brackets_may() -> None:
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 100))]
    assert [code for code, _, _ in found("\n".join(lines))] == ["yaml_depth"]


def test_after_a_hundred_findings_the_rest_is_not_listed() -> None:
    codes = [code for code, _, _ in found("{" + "a: 1, " * 300 + "}")]
    assert codes == ["duplicate_key"] * 100 + ["too_many"]


def test_a_finding_shows_control_characters_escaped_and_is_of_bounded_length() -> None:
    (finding,) = read('"a\\u202E": 1\n"a\\u202E": 2').findings
    assert '"a\\u{202E}"' in finding.message
    (finding,) = read("a: !" + "x" * 5000 + " 1").findings
    assert len(finding.message) <= 300


def test_a_place_leads_as_near_as_the_document_gets() -> None:
    root = read("a:\n  b: [1, 2]\n").root
    assert root is not None
    assert root.place(("a", "b")) == (2, 3)
    assert root.place(("a", "b", 1)) == (2, 10)
    assert root.place(("a", "c", "d")) == (1, 1)
    assert root.place(()) == (1, 1)


@given(st.binary(max_size=200))
@example(b"\xff\xfe")
@example(b'a: "\\UFFFFFFFF"')
@settings(deadline=None, max_examples=300)
def test_any_bytes_give_a_document(data: bytes) -> None:
    document = read(data)
    assert document.root is not None or document.findings


@given(st.text(alphabet="&*!|>%@`'\"#-:?[]{},\n \t\\xu0aA1.~<", max_size=120))
@settings(deadline=None, max_examples=600)
def test_any_text_of_yaml_signs_gives_a_document(text: str) -> None:
    document = read(text)
    assert document.root is not None or document.findings
    assert all(one.message.isprintable() and one.mend for one in document.findings)
