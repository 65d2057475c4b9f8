"""Templates are filled once, from known names only."""

from __future__ import annotations

import pytest

from hcpx.hub.templates import UnknownName, filled

VALUES = {"secret": "s-1", "access_key_id": "id-1", "a-b": "dash"}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("", ""),
        ("plain", "plain"),
        ("{{secret}}", "s-1"),
        ("<{{secret}}|{{access_key_id}}|{{secret}}>", "<s-1|id-1|s-1>"),
        ("{{a-b}}", "dash"),
        ("{{.Name}} { } {{ secret }} {{}} {{{", "{{.Name}} { } {{ secret }} {{}} {{{"),
        ("{{{secret}}}", "{s-1}"),
    ],
)
def test_names_are_replaced_and_other_braces_stay(template: str, expected: str) -> None:
    assert filled(template, VALUES) == expected


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(UnknownName) as refused:
        filled("{{secret}} {{Secret}}", VALUES)
    assert refused.value.name == "Secret"
