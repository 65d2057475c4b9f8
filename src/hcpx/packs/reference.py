"""The reference of pack.yaml and its lint (docs/reference/manifest.md), generated from schema and rules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final, cast

from hcpx.vocabulary.finding import MANIFEST

from .lint.rules import RULES
from .schema import Schema, pack_schema, resolved

# What is found before the rules are asked: the manifest or a file does not have the form that is asked for.
FORM: Final[tuple[tuple[str, str], ...]] = (
    ("manifest_missing", f"A pack has a {MANIFEST} at its root."),
    ("unreadable", "Every file of the pack can be read."),
    ("pack_too_large", "A pack has at most 10,000 entries and 256 MiB."),
    ("bad_archive", "An archive is tar, tar.gz or zip, whole, and holds files, folders and inner links."),
    ("odd_file", "A pack holds files, folders and links, nothing else."),
    ("odd_name", "A file's name is UTF-8, printable and at most 255 bytes long."),
    ("name_clash", "No two names differ by case or accents only."),
    ("setuid_file", "No file has a setuid or setgid bit."),
    ("link_leaves_pack", "A link leads to a file of the pack, by a relative path."),
    ("link_broken", "A link leads somewhere."),
    ("other_id", "A linked folder still holds the pack that was linked."),
    ("yaml_size", "The manifest has at most 1 MiB."),
    ("yaml_encoding", "The manifest is UTF-8 without control characters."),
    ("yaml_syntax", "The manifest is one YAML 1.2 document without directives."),
    ("yaml_empty", "The manifest is not empty."),
    ("yaml_tag", "No value has a tag."),
    ("yaml_alias", "At most 1,000 aliases, none of itself; with all written out at most 4 MiB."),
    ("yaml_depth", "At most 64 levels."),
    ("duplicate_key", "No key stands twice in a mapping."),
    ("key_not_text", "Every key is a text: a number, true, false or null is written in quotes."),
    ("bad_text", "No text holds NUL or half a surrogate pair."),
    ("bad_number", "A number is finite and has at most 4,300 digits."),
    ("too_many", "So many findings that the rest is not listed."),
    ("unknown_key", "Every key is known where it stands."),
    ("missing_key", "The required keys are there."),
    ("wrong_type", "A value is of the type that its key asks for."),
    ("bad_value", "A value is one that its key allows."),
    ("bad_id", "Ids and verb_keys have their form."),
    ("bad_variable", "A variable's name is letters, digits and underscores, no digit first."),
    ("skill_malformed", "A Skill's file begins with name and description in the Agent Skills format."),
    ("skill_key", "A Skill's frontmatter has keys of the Agent Skills format only (a warning)."),
)  # fmt: skip


def manifest_reference() -> str:
    """Return the page as Markdown."""
    return "\n".join([*_head(), *_keys(), *_form(), *_rules()]) + "\n"


def _head() -> Iterator[str]:
    yield "# pack.yaml and its lint"
    yield ""
    yield "Generated from the schema (`hcpx schema pack`) and the rules of `hcpx pack lint`; do not edit."
    yield ""
    yield "The manifest is YAML 1.2 with the core schema: `no`, `on` and `off` are texts. Tags are refused."
    yield ""


def _keys() -> Iterator[str]:
    yield "## Keys"
    yield ""
    yield "`<...>` stands for a name of your own, `[]` for the items of a list; `*` marks required keys."
    yield ""
    yield "| key | value | meaning |"
    yield "| --- | --- | --- |"
    yield from _rows(pack_schema(), "")
    yield ""


def _rows(schema: Schema, path: str) -> Iterator[str]:
    required = cast("list[str]", schema.get("required", []))
    for name, below in cast("dict[str, Schema]", schema.get("properties", {})).items():
        star = " *" if name in required else ""
        yield from _row(resolved(below), f"{path}.{name}" if path else name, star)
    rest = schema.get("additionalProperties")
    if isinstance(rest, dict) and rest != {"type": "string"}:
        yield from _row(resolved(cast("Schema", rest)), f"{path}.<...>", "")
    items = schema.get("items")
    if isinstance(items, dict) and "properties" in resolved(cast("Schema", items)):
        yield from _rows(resolved(cast("Schema", items)), f"{path}[]")


def _row(schema: Schema, path: str, star: str) -> Iterator[str]:
    about = str(schema.get("description", ""))
    if "default" in schema:
        about += f" Default: `{json.dumps(schema['default'])}`."
    yield f"| `{path}`{star} | {_kind(schema)} | {_cell(about)} |"
    yield from _rows(schema, path)


def _kind(schema: Schema) -> str:
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in cast("list[str]", schema["enum"]))
    if "const" in schema:
        return f"`{schema['const']}`"
    types = schema.get("type", "any")
    return " or ".join(cast("list[str]", types)) if isinstance(types, list) else str(types)


def _form() -> Iterator[str]:
    yield "## Form"
    yield ""
    yield "What is demanded before the rules are asked. All of it is an error unless it says otherwise."
    yield ""
    yield "| code | demand |"
    yield "| --- | --- |"
    for code, demand in FORM:
        yield f"| `{code}` | {_cell(demand)} |"
    yield ""


def _rules() -> Iterator[str]:
    yield "## Rules"
    yield ""
    yield "| code | severity | demand | how to mend it |"
    yield "| --- | --- | --- | --- |"
    for rule in RULES:
        code = f"[`{rule.code}`](#{rule.code})"
        yield f"| {code} | {rule.severity} | {_cell(rule.demand)} | {_cell(rule.mend)} |"
    yield ""
    yield "Each with an example, laid over a sound manifest."
    yield ""
    for rule in RULES:
        yield f"### {rule.code}"
        yield ""
        yield from _example("Found in", rule.refused[0])
        yield from _example("Not in", rule.fine[0])


def _example(title: str, text: str) -> Iterator[str]:
    if text == "{}":
        return
    yield f"{title}:"
    yield ""
    yield "```yaml"
    yield text
    yield "```"
    yield ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
