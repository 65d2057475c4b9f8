"""Rules about what people and agents read: summaries, args, fixtures, Skills (Spec 02 sections 4 and 6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hcpx.packs.frontmatter import SkillFile

from .rule import Draft, Hit, Rule


def _skill_missing(draft: Draft) -> Iterator[Hit]:
    for place, file in enumerate(_named(draft)):
        if file not in draft.skills:
            yield Hit(f'the pack has no file "{file}"', ("skills", place))


def _skill_twice(draft: Draft) -> Iterator[Hit]:
    names: dict[str, str] = {}
    for place, file in enumerate(_named(draft)):
        skill = draft.skills.get(file, SkillFile(None, ())).skill
        if skill is not None and skill.name in names:
            message = f"{names[skill.name]} and {file} are both named {skill.name}"
            yield Hit(message, ("skills", place))
        elif skill is not None:
            names[skill.name] = file


def _no_skill(draft: Draft) -> Iterator[Hit]:
    if not _named(draft):
        yield Hit("the pack has no Skill", ("id",))


def _no_summary(draft: Draft) -> Iterator[Hit]:
    for verb_key, command in draft.pack.commands.items():
        if not command.summary.strip():
            yield Hit(f"{verb_key} has no summary", ("commands", verb_key))


def _no_args(draft: Draft) -> Iterator[Hit]:
    for verb_key in draft.pack.commands:
        if "args" not in draft.body("commands", verb_key):
            yield Hit(f"{verb_key} does not declare its args", ("commands", verb_key))


def _no_mock(draft: Draft) -> Iterator[Hit]:
    for verb_key, command in draft.pack.commands.items():
        row = draft.pack.policy.get(verb_key)
        if row is not None and row.operation == "write" and command.mock is None:
            yield Hit(f"the write {verb_key} has no mock", ("commands", verb_key))


def _named(draft: Draft) -> list[str]:
    node = draft.tree.child("skills")
    return [str(item.value) for item in node.items()] if node is not None else []


RULES: Final = (
    Rule(
        code="skill_missing",
        severity="error",
        demand="A file that skills names is a file of the pack.",
        mend="add the file, or take it out of skills",
        check=_skill_missing,
        refused=("skills: [NONE.md]", "skills: [../SKILL.md]", "skills: [/etc/hostname]", "skills: [bin]"),
        fine=("skills: [SKILL.md]",),
    ),
    Rule(
        code="skill_twice",
        severity="error",
        demand="The Skills of a pack have names of their own.",
        mend="rename one of them",
        check=_skill_twice,
        refused=("skills: [SKILL.md, COPY.md]", "skills: [SKILL.md, SKILL.md]"),
        fine=("skills: [SKILL.md]",),
    ),
    Rule(
        code="no_skill",
        severity="warning",
        demand="A pack has a Skill that tells an agent when and how to use it; else its lead is generated.",
        mend="add SKILL.md with name: and description:, and skills: [SKILL.md]",
        check=_no_skill,
        refused=("skills: []", "skills:"),
        fine=("skills: [SKILL.md]",),
    ),
    Rule(
        code="no_summary",
        severity="warning",
        demand="A command has a summary.",
        mend="add summary: one line on what it does",
        check=_no_summary,
        refused=("commands: {look: {cli: [tool]}}", "commands: {look: {cli: [tool], summary: ' '}}"),
        fine=("commands: {look: {cli: [tool], summary: Look around}}",),
    ),
    Rule(
        code="no_args",
        severity="warning",
        demand="A command declares its args, so that a wrong one is refused.",
        mend="add args: {} where it takes none",
        check=_no_args,
        refused=("commands: {look: {cli: [tool]}}",),
        fine=("commands: {look: {cli: [tool], args: {}}}",),
    ),
    Rule(
        code="no_mock",
        severity="warning",
        demand="A write has a mock, so that it can be rehearsed.",
        mend="add mock: with a result as the program would give it",
        check=_no_mock,
        refused=("policy: {look: {operation: write, confirm: true}}",),
        fine=("commands: {look: {cli: [tool], mock: null}}\npolicy: {look: {operation: write, confirm: true}}",),
    ),
)
