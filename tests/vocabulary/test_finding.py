"""What lint finds, told in one line (Spec 02 section 6)."""

from __future__ import annotations

import msgspec

from hcpx.vocabulary.change import Change
from hcpx.vocabulary.finding import Finding, errors, in_order

BAD_KEY = Finding("unknown_key", "error", "unknown key comfirm", "did you mean confirm?", line=12, column=5)
NO_SKILL = Finding("no_skill", "warning", "the pack has no Skill", "add SKILL.md")


def test_a_finding_says_where_how_bad_what_and_how_to_mend_it() -> None:
    assert str(BAD_KEY) == "pack.yaml:12:5: error: unknown key comfirm [unknown_key]\n  mend: did you mean confirm?"
    assert str(NO_SKILL) == "pack.yaml: warning: the pack has no Skill [no_skill]\n  mend: add SKILL.md"


def test_a_files_name_forges_no_line() -> None:
    forged = msgspec.structs.replace(BAD_KEY, file="a\nb\x1b[2K")
    assert str(forged).startswith("a\\u{000A}b\\u{001B}[2K:12:5: error: ")
    assert str(msgspec.structs.replace(forged, line=0)).startswith("a\\u{000A}b\\u{001B}[2K: error: ")


def test_only_errors_keep_a_pack_out() -> None:
    assert errors((BAD_KEY, NO_SKILL)) == (BAD_KEY,)
    assert errors([NO_SKILL]) == ()


def test_findings_come_once_and_sorted_by_place() -> None:
    earlier = msgspec.structs.replace(BAD_KEY, line=2)
    skill = msgspec.structs.replace(NO_SKILL, file="SKILL.md")
    assert in_order([BAD_KEY, NO_SKILL, earlier, BAD_KEY, skill]) == (skill, NO_SKILL, earlier, BAD_KEY)


def test_a_change_says_nothing_of_an_end_that_it_does_not_have() -> None:
    change = Change("command", "pay", "added", "command pay is new", after={"cli": ["bank", "pay"]})
    assert msgspec.to_builtins(change) == {
        "part": "command",
        "name": "pay",
        "how": "added",
        "text": "command pay is new",
        "after": {"cli": ["bank", "pay"]},
    }
