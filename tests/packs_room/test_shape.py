"""The published schema and the check by it say the same (Spec 02 section 1)."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, cast

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcpx.packs.manifest import read_manifest
from hcpx.packs.schema import pack_schema, pack_schema_text
from tests.packs_room.sound import SOUND, laid_over, yaml

if TYPE_CHECKING:
    from hcpx.vocabulary.finding import Finding


def findings(manifest: str) -> tuple[Finding, ...]:
    return read_manifest(manifest.encode()).findings


def messages(overlay: str) -> list[tuple[str, str, str]]:
    return [(one.code, one.message, one.mend) for one in findings(laid_over(overlay))]


@pytest.mark.parametrize(
    ("overlay", "code", "message", "mend"),
    [
        (
            "policy: {look: {operation: write, comfirm: true}}",
            "unknown_key",
            'unknown key "comfirm" in policy.look',
            "did you mean confirm?",
        ),
        ("knd: wrap", "unknown_key", 'unknown key "knd"', "did you mean kind?"),
        (
            "openapi: {document: x, zzz: 1}",
            "unknown_key",
            'unknown key "zzz" in openapi',
            "known here: document, server",
        ),
        (
            "version: 1.0",
            "wrong_type",
            "version must be a text, not a number",
            "write it in quotes. The pack's version in the form of Semantic Versioning 2.0: 1.2.0.",
        ),
        (
            "policy: {look: {operation: read, confirm: 'yes'}}",
            "wrong_type",
            "policy.look.confirm must be true or false, not a text",
            "Whether a call must say confirm: true; a write row says it either way.",
        ),
        (
            "kind: warp",
            "bad_value",
            'kind: "warp" is not one of wrap, composite, openapi, sense_only, mcp',
            "did you mean wrap?",
        ),
        ("hcp: 2", "bad_value", "hcp: 2 is not 1", "The manifest's format: 1."),
        ("hcp: true", "bad_value", "hcp: true is not 1", "The manifest's format: 1."),
        (
            "id: Ledger",
            "bad_id",
            'id: "Ledger" does not have the form that is asked for',
            (
                "The pack's id: words of lower-case letters and digits joined by single dashes, a letter "
                "first, at most 64 characters."
            ),
        ),
        (
            "sense: {x: {command: look, every_s: 9}}",
            "bad_value",
            "sense.x.every_s: 9 is less than 10",
            "How often, in seconds; at least 10.",
        ),
        (
            "policy: {look: {operation: read, limits: {timeout_s: 0}}}",
            "bad_value",
            "policy.look.limits.timeout_s: 0 is not more than 0",
            "Wall clock in seconds.",
        ),
        (
            "commands: {look: {cli: []}}",
            "bad_value",
            "commands.look.cli: the list is empty",
            "The command line, the program's name first; {{name}} stands for an arg.",
        ),
        (
            "wrap: {bin: ''}",
            "bad_value",
            "wrap.bin: the text is empty",
            (
                "The program: a path with a slash below the pack directory, else the pack's own file of that "
                "name, else the first match on the runtime's search path."
            ),
        ),
        (
            "title:",
            "missing_key",
            'the key "title" is missing in the manifest',
            "add it. The pack's name for people.",
        ),
        (
            "commands: {look: {cli: [a, 1]}}",
            "wrong_type",
            "commands.look.cli[1] must be a text, not a whole number",
            "write it in quotes. see hcpx schema pack",
        ),
    ],
)
def test_a_difference_is_told_in_words_that_help(overlay: str, code: str, message: str, mend: str) -> None:
    assert (code, message, mend) in messages(overlay)


def test_a_merge_key_is_an_unknown_key() -> None:
    (finding,) = findings(SOUND.replace("{bin: bin/tool}", "{bin: bin/tool, <<: {}}"))
    assert (finding.code, finding.line, finding.column) == ("unknown_key", 6, 23)
    assert finding.mend == "YAML 1.2 has no merge keys: write the keys out"


@pytest.mark.parametrize(
    "verb_key", ["Look", "look.", ".look", "a..b", "-a", "_a", "a b", "a/b", "é", "a" * 129, "look\n"]
)
def test_a_verb_key_of_another_form_is_refused(verb_key: str) -> None:
    text = laid_over(f"commands: {{{json.dumps(verb_key)}: {{cli: [a]}}}}")
    assert [one.code for one in findings(text)] == ["bad_id"]


@pytest.mark.parametrize("pack_id", ["1a", "a--b", "a-", "-a", "a_b", "a.b", "", "a" * 65, "a\n", "ä"])
def test_a_pack_id_of_another_form_is_refused(pack_id: str) -> None:
    assert [one.code for one in findings(laid_over(f"id: {json.dumps(pack_id)}"))] == ["bad_id"]


@pytest.mark.parametrize(
    ("host", "fine"),
    [
        ("api.example", True),
        ("api.example:443", True),
        ("[::1]:80", True),
        ("10.0.0.1", True),
        ("*.example", False),
        ("https://api.example", False),
        ("api.example/path", False),
        ("api.example:0", False),
        ("api example", False),
        (".example", False),
        ("api.example:", False),
    ],
)
def test_a_host_is_a_name_with_or_without_port(host: str, *, fine: bool) -> None:
    text = laid_over(f"wrap: {{bin: bin/tool, network: [{json.dumps(host)}]}}")
    assert (findings(text) == ()) is fine


def test_the_schema_is_valid_and_refers_to_nothing_outside() -> None:
    schema = json.loads(pack_schema_text())
    jsonschema_rs.meta.validate(schema)
    jsonschema_rs.Draft202012Validator(schema, offline=True)
    assert schema == pack_schema()


def test_every_pattern_is_bound_at_both_ends() -> None:
    def patterns(node: object) -> list[str]:
        if isinstance(node, list):
            return [one for item in node for one in patterns(item)]
        if not isinstance(node, dict):
            return []
        own = [node["pattern"]] if isinstance(node.get("pattern"), str) else []
        return own + [one for item in node.values() for one in patterns(item)]

    assert [one for one in patterns(pack_schema()) if not (one.startswith("^") and one.endswith("$"))] == []


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 20)
    | st.floats(allow_nan=False, allow_infinity=False, width=16)
    | st.sampled_from(["", "a", "wrap", "read", "look", "1.0.0", "no", "A B", "api.example:1", "/a~1b", "x\n"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["bin", "cli", "operation", "name", "x", "env", "look"]), inner, max_size=3)
    ),
    max_leaves=6,
)
RICH = {
    **yaml(SOUND),
    "description": "d",
    "wrap": {
        "bin": "bin/tool",
        "argv_template": ["a"],
        "json_flag": ["--o", "json"],
        "agent_env": {"A": "b"},
        "unsafe_env": ["PATH"],
        "workspace": {"mode": "project"},
        "network": ["a.example"],
    },
    "openapi": {"document": "x", "server": "y"},
    "mcp": {"command": ["x"], "url": "u"},
    "binding": {
        "env": {"A": "{{secret}}"},
        "file": {"name": "k", "content": "c", "env": "K"},
        "oauth": {"issuer": "i", "scopes": ["s"], "endpoints": {"token": "t"}},
        "aws": {"role_arn": "r", "duration_s": 3},
        "local": {"files": ["f"], "command": ["c"]},
        "connect": {"command": "look", "secret": "/a", "expires_at": ""},
    },
    "commands": {
        "look": {
            "cli": ["a"],
            "args": {"n": {}},
            "required": ["n"],
            "json_flag": None,
            "mock": {"any": [1]},
            "examples": [{"args": {}, "argv": ["a"]}],
            "steps": [{"name": "s", "pack_id": "p", "verb_key": "v", "args": {}}],
            "output": 1,
            "handler": "h",
        }
    },
    "policy": {
        "look": {
            "operation": "read",
            "confirm": True,
            "approvals": 1,
            "binding": "user",
            "privacy": {"land": "brain"},
            "limits": {"timeout_s": 1.5, "output_bytes": 1, "memory_mb": 1, "processes": 1, "concurrency": 1},
            "idempotent": False,
        }
    },
    "sense": {"k": {"command": "look", "every_s": 10, "badge": "/n", "level": "info"}},
}


def paths(node: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    below = [path]
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for step, item in items:
        below += paths(item, (*path, step))
    return below


@given(st.sampled_from(paths(RICH)[1:]), VALUES, st.sampled_from(["put", "drop", "beside"]))
@settings(deadline=None, max_examples=800)
def test_the_check_accepts_exactly_what_the_published_schema_accepts(
    path: tuple[str | int, ...], value: object, how: str
) -> None:
    manifest = copy.deepcopy(RICH)
    parent = cast("dict[str | int, object]", manifest)
    for step in path[:-1]:
        parent = cast("dict[str | int, object]", parent[step])
    if how == "drop":
        del parent[path[-1]]
    elif how == "beside" and not isinstance(path[-1], int):
        parent["beside"] = value
    else:
        parent[path[-1]] = value
    text = json.dumps(manifest)
    engine = jsonschema_rs.Draft202012Validator(pack_schema(), offline=True)
    assert (findings(text) == ()) is engine.is_valid(json.loads(text))
