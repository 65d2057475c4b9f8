"""What holds for every template and all args: no value gains a token, an option or another value's place."""

from __future__ import annotations

import re
from typing import TypeVar

from hypothesis import assume, example, given
from hypothesis import strategies as st

from hcpx.rendering.argv import render
from hcpx.rendering.template import Template, compile_argv_template, compile_cli
from hcpx.vocabulary.denial import Denial

NAMES = ("a", "b", "c", "d")
T = TypeVar("T")

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
hostile = st.sampled_from(
    [
        "--output=x",
        "-rf",
        "--",
        "-",
        "{{a}}",
        "{{b}}",
        "--json",
        "-5",
        "-.5e3",
        "-5x",
        "",
        "x y",
        "$(id)",
        "\n",
    ]
)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
scalars = hostile | texts | numbers | st.booleans()
values = scalars | st.lists(scalars | st.none() | st.lists(scalars, max_size=2), max_size=3)
args = st.dictionaries(st.sampled_from(NAMES), values | st.none())
tokens = st.sampled_from(
    [
        *("{{a}}", "{{b}}", "{{c}}", "{{d}}", "--a={{a}}", "--b={{b}}", "--c={{c}}", "-o{{d}}"),
        *("{{a}}:{{b}}", "{{c}}:{{d}}", "{{a}}-{{b}}", "k={{c}}", "{{a}}{{b}}{{c}}"),
        *("--flag", "-f", "--json", "--", "-", "word", "--x=1", ""),
    ]
)
templates = st.builds(
    lambda listed, flag: compile_cli(("bin", *listed), flag),
    st.lists(tokens, max_size=8),
    st.sampled_from([("--json",), (), ("--output", "json")]),
)


def without_a_denial(answer: T | Denial) -> T:
    assume(not isinstance(answer, Denial))
    assert not isinstance(answer, Denial)
    return answer


@given(templates, args)
@example(compile_cli(("bin", "{{a}}", "{{b}}")), {"a": "--", "b": "-rf"})
@example(compile_cli(("bin", "{{a}}-{{b}}")), {"b": "rf"})
def test_a_rendered_argv_never_gains_an_option_from_a_value(template: Template, given: dict[str, object]) -> None:
    argv = without_a_denial(render(template, given, {}))
    literals = {token.text for token in template.tokens if not token.names}
    openings = {token.pieces[0] for token in template.tokens if token.names and token.text.startswith("-")}
    before = argv[: argv.index("--")] if "--" in argv else argv
    for token in before:
        if token.startswith("-") and token not in literals and not token.startswith(tuple(openings)):
            assert re.match(r"-\.?[0-9]", token)  # a number


@given(templates, args)
def test_the_first_mark_in_an_argv_is_one_that_the_template_wrote(template: Template, given: dict[str, object]) -> None:
    argv = without_a_denial(render(template, given, {}))
    written = [token.text for token in template.tokens]
    assert ("--" in argv) == ("--" in written)


@given(templates, args)
def test_how_many_tokens_there_are_depends_on_which_values_are_given_and_not_on_what_they_hold(
    template: Template, given: dict[str, object]
) -> None:
    argv = without_a_denial(render(template, given, {}))
    plain = render(template, {name: "x" for name, value in given.items() if value is not None}, {})
    assert not isinstance(plain, Denial)
    assert len(argv) == len(plain) <= len(template.tokens)


@given(templates, args)
def test_an_argv_is_the_templates_tokens_with_some_dropped_and_the_rest_in_order(
    template: Template, given: dict[str, object]
) -> None:
    argv = without_a_denial(render(template, given, {}))
    left = list(argv)
    for token in template.tokens:
        pattern = ".*".join(re.escape(piece) for piece in token.pieces) if token.names else re.escape(token.text)
        if left and re.fullmatch(pattern, left[0], re.DOTALL):
            left.pop(0)
    assert left == []


@given(templates, args, st.permutations(NAMES))
def test_the_order_and_the_nulls_of_the_args_do_not_matter(
    template: Template, given: dict[str, object], order: list[str]
) -> None:
    shuffled = {name: given.get(name) for name in order}
    assert render(template, given, {}) == render(template, shuffled, {})


@given(st.lists(tokens, max_size=6), st.dictionaries(st.sampled_from(NAMES), values, min_size=4))
def test_with_every_value_given_nothing_is_missing_and_nothing_drops(
    listed: list[str], given: dict[str, object]
) -> None:
    template = compile_argv_template(tuple(listed), "go")
    answer = render(template, given, {})
    if isinstance(answer, Denial):
        assert 'begins with "-"' in answer.error or 'would begin with "-"' in answer.error
    else:
        assert len(answer) == len(listed)


@given(
    templates,
    st.dictionaries(st.sampled_from(NAMES), values | st.dictionaries(texts, values) | st.just("\0\ud800")),
)
def test_any_args_give_an_argv_or_a_denial_of_one_of_them(template: Template, given: dict[str, object]) -> None:
    answer = render(template, given, {})
    if isinstance(answer, Denial):
        assert re.match(r"invalid args: /[abcd]: ", answer.error)
    else:
        assert all("\0" not in token and token.encode() is not None for token in answer)
