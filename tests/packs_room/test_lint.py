"""What lint says of whole packs: places, neighbours, and the sentences of Spec 02 section 6."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hcpx.packs.gate import lint, read_pack
from hcpx.packs.lint.program import DECIDES_WHAT_RUNS
from hcpx.vocabulary.finding import Finding, errors
from tests.packs_room.sound import SOUND, laid_over, write_pack, yaml

if TYPE_CHECKING:
    from pathlib import Path

    from hcpx.vocabulary.pack import Pack


def codes(folder: Path) -> list[str]:
    return [one.code for one in errors(lint(str(folder)))]


def pack_of(folder: Path, manifest: str) -> Pack:
    pack = read_pack(str(write_pack(folder, manifest)), judged=False).pack
    assert pack is not None
    return pack


def test_a_finding_names_code_file_line_column_and_how_to_mend_it(tmp_path: Path) -> None:
    text = SOUND.replace("{operation: read}", "{operation: write}")
    found = lint(str(write_pack(tmp_path, text)))
    assert found == (
        Finding(
            "no_mock",
            "warning",
            "the write look has no mock",
            "add mock: with a result as the program would give it",
            "pack.yaml",
            8,
            3,
        ),
        Finding(
            "confirm_unsaid",
            "error",
            "the write row of look does not say confirm",
            "add confirm: true; or confirm: false where a run can do no harm",
            "pack.yaml",
            10,
            3,
        ),
    )
    assert str(found[1]) == (
        "pack.yaml:10:3: error: the write row of look does not say confirm [confirm_unsaid]\n"
        "  mend: add confirm: true; or confirm: false where a run can do no harm"
    )


def test_a_pack_that_passes_has_a_row_for_every_command(tmp_path: Path) -> None:
    pack = read_pack(str(write_pack(tmp_path))).sound
    assert pack is not None
    assert pack.commands.keys() == pack.policy.keys()


def test_there_is_nothing_to_lint_where_there_is_no_manifest(tmp_path: Path) -> None:
    assert codes(tmp_path) == ["manifest_missing"]
    assert codes(tmp_path / "nowhere") == ["manifest_missing"]
    (tmp_path / "file").write_text("x")
    assert codes(tmp_path / "file") == ["manifest_missing"]
    assert [one.code for one in lint("no\0path")] == ["manifest_missing"]


def test_a_manifest_that_is_no_plain_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pack.yaml")
    assert "unreadable" in codes(tmp_path)
    (tmp_path / "pack.yaml").unlink()
    (tmp_path / "real.yaml").write_text(SOUND)
    (tmp_path / "pack.yaml").symlink_to("real.yaml")
    assert "unreadable" in codes(tmp_path)


def test_a_manifest_of_more_than_a_mebibyte_is_refused(tmp_path: Path) -> None:
    assert codes(write_pack(tmp_path, SOUND + "#" * 1024 * 1024)) == ["yaml_size"]


# --- rows -------------------------------------------------------------------------------------------------


def test_a_mistyped_confirm_is_refused_with_the_key_that_was_meant(tmp_path: Path) -> None:
    text = laid_over("policy: {look: {operation: write, comfirm: true}}")
    (finding,) = errors(lint(str(write_pack(tmp_path, text))))
    assert (finding.code, finding.mend) == ("unknown_key", "did you mean confirm?")


def test_a_mistyped_verb_is_found_in_both_places(tmp_path: Path) -> None:
    found = lint(str(write_pack(tmp_path, laid_over("policy: {lok: {operation: read}}"))))
    assert {(one.code, one.mend) for one in errors(found)} == {
        ("command_without_row", "add the row under policy"),
        ("row_without_command", "did you mean look?"),
    }


def test_a_gate_that_is_set_twice_is_refused_and_names_both_lines(tmp_path: Path) -> None:
    text = SOUND.replace(
        "look: {operation: read}", "look:\n    operation: write\n    confirm: true\n    confirm: false"
    )
    (finding,) = errors(lint(str(write_pack(tmp_path, text))))
    assert finding.message == 'the key "confirm" stands here a second time; the first is on line 12'
    assert (finding.code, finding.line) == ("duplicate_key", 13)


def test_verbs_that_yaml_1_1_takes_for_booleans_are_texts(tmp_path: Path) -> None:
    text = SOUND.replace("look:", "on:")
    pack = read_pack(str(write_pack(tmp_path, text))).sound
    assert pack is not None
    assert list(pack.commands) == ["on"]
    text = SOUND.replace("look: {operation: read}", "look: {operation: write, confirm: yes}")
    (finding,) = errors(lint(str(write_pack(tmp_path, text))))
    assert (finding.code, finding.line) == ("wrong_type", 10)


# --- environment ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        *(pattern.replace("*", "") for pattern in DECIDES_WHAT_RUNS),
        "LD_PRELOAD",
        "PYTHONPATH",
        "GIT_DIR",
        "RUBYOPT",
    ],
)
@pytest.mark.parametrize("place", ["wrap: {bin: bin/tool, agent_env: {%s: x}}", "binding: {env: {%s: x}}"])
def test_a_variable_that_decides_what_runs_is_refused(name: str, place: str, tmp_path: Path) -> None:
    assert codes(write_pack(tmp_path, laid_over(place % name))) == ["env_decides"]


def test_unsafe_env_lifts_the_refusal_but_never_for_the_runtimes_own(tmp_path: Path) -> None:
    for name, expected in (("PATH", []), ("HCP_SANDBOX", ["env_decides", "env_decides"])):
        text = laid_over(f"wrap: {{bin: bin/tool, agent_env: {{{name}: x}}, unsafe_env: [{name}]}}")
        assert codes(write_pack(tmp_path, text)) == expected


# --- secrets ----------------------------------------------------------------------------------------------

SECRETS = {
    "github": "ghp_" + "a1B2" * 9,
    "github fine-grained": "github_pat_" + "a1B2" * 8,
    "aws": "AKIA" + "ABCD2345" * 2,
    "slack": "xoxb-" + "1234567890-abcdef",
    "payment": "sk_live_" + "a1B2c3" * 4,
    "model": "sk-proj-" + "a1B2c3" * 5,
    "google": "AIza" + "a1B2c" * 7,
    "gitlab": "glpat-" + "a1B2c3" * 4,
    "npm": "npm_" + "a1B2" * 9,
    "pypi": "pypi-" + "a1B2c" * 12,
    "signed": "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.abcdefghijk",
    "key": "-----BEGIN RSA " + "PRIVATE KEY-----",
    "pgp": "-----BEGIN PGP " + "PRIVATE KEY BLOCK-----",
    "address": "postgres://ada:c0rrect-h0rse@db.example/x",
    "named": 'api_key = "q7Zr2Lw9Xc4Tn8Vb1Mk6"',
    "env file": "export DB_PASSWORD=q7Zr2Lw9Xc4Tn8Vb1Mk6",
}


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize("file", ["bin/tool", "SKILL.md", "docs/deep/notes.txt", "pack.yaml"])
def test_a_secret_is_found_in_any_file_and_never_repeated(kind: str, file: str, tmp_path: Path) -> None:
    secret = SECRETS[kind]
    write_pack(tmp_path)
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.read_text() if path.exists() else ""
    comment = "# " if file == "pack.yaml" and not kind.startswith("env") else ""
    path.write_text(f"{before}\n{comment}{secret}\n")
    if file == "pack.yaml" and kind == "env file":
        path.write_text(f"{before}# x\n# DB_PASSWORD: \ndescription: |\n  {secret}\n")
    found = [one for one in lint(str(tmp_path)) if one.code == "secret_literal"]
    assert {(one.file, one.severity) for one in found} == {(file, "error")}
    assert all(one.line > 1 and one.column > 0 for one in found)
    assert all(secret[8:] not in f"{one.message} {one.mend}" for one in found)


def test_a_secret_across_two_reads_and_in_a_file_that_is_no_text_is_found(tmp_path: Path) -> None:
    write_pack(tmp_path)
    data = b"\x00\xff\n" * 349_520 + SECRETS["github"].encode() + b"\xfe" * 2_000_000
    (tmp_path / "blob").write_bytes(data)
    (finding,) = [one for one in lint(str(tmp_path)) if one.code == "secret_literal"]
    assert (finding.file, finding.line, finding.column) == ("blob", 349_521, 1)


def test_an_escape_does_not_hide_a_secret_in_the_manifest(tmp_path: Path) -> None:
    text = SOUND + f'description: "\\x67{SECRETS["github"][1:]}"\n'
    assert "secret_literal" in codes(write_pack(tmp_path, text))


@pytest.mark.parametrize(
    "line",
    [
        "token = os.environ['LEDGER_TOKEN']",
        "password = getpass.getpass('Password: ')",
        "secret_name: the-name-of-the-secret-in-the-vault",
        "token_url = 'https://id.example/oauth2/v1/token'",
        "postgres://user:password@localhost/db",
        "postgres://{user}:{password}@localhost/db",
        "AWS: AKIAIOSFODNN7EXAMPLE",
        "api_key: your-api-key-goes-here",
        "sk-learn and risk-averse",
        "token = hashlib.sha256(data).hexdigest()",
        "password='mock-password-123456789'",
        "access_key = base64_encoded_value_1",
    ],
)
def test_what_only_speaks_of_secrets_is_left_alone(line: str, tmp_path: Path) -> None:
    write_pack(tmp_path, files={"lib/tool.py": f"{line}\n"})
    assert codes(tmp_path) == []


# --- composites and their neighbours ----------------------------------------------------------------------

BANK = laid_over(
    """
id: bank
commands: {pay: {cli: [bank, pay]}, who: {cli: [bank, who]}, big: {cli: [bank, big]}}
policy:
  pay: {operation: write, confirm: true}
  who: {operation: read}
  big: {operation: read, approvals: 1}
"""
)


def daily(step: str, row: str) -> str:
    return laid_over(
        f"""
id: daily
kind: composite
wrap:
commands: {{close: {{summary: s, args: {{}}, steps: [{{name: one, pack_id: bank, verb_key: {step}}}]}}}}
policy: {{close: {row}}}
"""
    )


@pytest.mark.parametrize(
    ("step", "row", "expected"),
    [
        ("pay", "{operation: write, confirm: true}", []),
        ("pay", "{operation: write, confirm: false}", ["composite_unconfirmed"]),
        ("pay", "{operation: read}", ["composite_unconfirmed"]),
        ("big", "{operation: read}", ["composite_unconfirmed"]),
        ("who", "{operation: read}", []),
    ],
)
def test_a_composite_is_judged_against_the_installed_packs(
    step: str, row: str, expected: list[str], tmp_path: Path
) -> None:
    bank = pack_of(tmp_path / "bank", BANK)
    folder = write_pack(tmp_path / "daily", daily(step, row))
    found = lint(str(folder), installed={"bank": bank}.get)
    assert [one.code for one in errors(found)] == expected
    assert "step_unknown" not in {one.code for one in found}


def test_a_step_that_nobody_knows_gives_a_warning(tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "daily", daily("pay", "{operation: write, confirm: true}"))
    unknown = [one.message for one in lint(str(folder)) if one.code == "step_unknown"]
    assert unknown == ["close: the pack bank of the step one is not installed"]
    bank = pack_of(tmp_path / "bank", BANK)
    folder = write_pack(tmp_path / "daily", daily("pax", "{operation: write, confirm: true}"))
    found = lint(str(folder), installed={"bank": bank}.get)
    assert [one.message for one in found if one.code == "step_unknown"] == ["close: the pack bank has no command pax"]
    assert errors(found) == ()


def test_a_cycle_through_other_packs_is_refused_with_the_way_that_it_takes(tmp_path: Path) -> None:
    def chain(name: str, to: str) -> str:
        return laid_over(
            f"id: {name}\nkind: composite\nwrap:\n"
            f"commands: {{go: {{steps: [{{name: s, pack_id: {to}, verb_key: go}}]}}}}\n"
            "policy: {go: {operation: read}}"
        )

    installed = {name: pack_of(tmp_path / name, chain(name, to)) for name, to in (("b", "c"), ("c", "a"))}
    found = errors(lint(str(write_pack(tmp_path / "a", chain("a", "b"))), installed=installed.get))
    assert [(one.code, one.message) for one in found] == [
        ("composite_cycle", "the step s leads back: a.go > b.go > c.go > a.go")
    ]
    # The pack is judged as it will be, not by an older version of itself.
    installed["a"] = pack_of(tmp_path / "old", chain("a", "b"))
    folder = write_pack(tmp_path / "a", chain("a", "elsewhere"))
    assert errors(lint(str(folder), installed=installed.get)) == ()


# --- Skills -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# no frontmatter\n", "the Skill does not begin with a line ---"),
        ("---\nname: x\n", "the Skill's frontmatter has no end: a second line --- is missing"),
        ("---\nname: x\n---\n", 'the key "description" is missing in the frontmatter'),
        ("---\n- x\n---\n", "the frontmatter is no mapping"),
        ("---\nname: X_Y\ndescription: d\n---\n", None),
        ("---\nname: x\ndescription: '  '\n---\n", None),
        ("---\nname: x\ndescription: d\nname: y\n---\n", None),
        (f"---\nname: x\ndescription: {'d' * 1025}\n---\n", None),
        (f"---\nname: {'x' * 65}\ndescription: d\n---\n", None),
        ("---\nname: x\ndescription: [d]\n---\n", None),
        ("---\nname: x\ndescription: d\nmetadata: text\n---\n", None),
    ],
)
def test_a_malformed_skill_is_refused(text: str, message: str | None, tmp_path: Path) -> None:
    found = errors(lint(str(write_pack(tmp_path, files={"SKILL.md": text}))))
    assert {one.file for one in found} == {"SKILL.md"}
    assert {one.code for one in found} <= {"skill_malformed", "duplicate_key"}
    assert message is None or message in {one.message for one in found}


def test_a_skill_that_is_not_utf_8_is_refused_and_its_places_count_from_its_first_line(
    tmp_path: Path,
) -> None:
    write_pack(tmp_path)
    (tmp_path / "SKILL.md").write_bytes(b"---\nname: x\ndescription: \xff\n---\n")
    assert [one.message for one in errors(lint(str(tmp_path)))] == ["the Skill is not UTF-8 at byte 25"]
    (tmp_path / "SKILL.md").write_text("---\nname: x\ndescription: d\nlicence: MIT\n---\n")
    (finding,) = lint(str(tmp_path))
    assert (finding.severity, finding.line, finding.mend) == ("warning", 4, "did you mean license?")


def test_a_skill_may_come_with_windows_line_ends_and_a_byte_order_mark(tmp_path: Path) -> None:
    write_pack(tmp_path)
    (tmp_path / "SKILL.md").write_bytes(b"\xef\xbb\xbf---\r\nname: x\r\ndescription: d\r\n---\r\n# X\r\n")
    assert lint(str(tmp_path)) == ()


# --- packages ---------------------------------------------------------------------------------------------


def test_a_pack_of_a_python_package_may_name_handlers(tmp_path: Path) -> None:
    text = laid_over("kind: composite\nwrap:\ncommands: {look: {summary: s, args: {}, handler: mine}}")
    write_pack(tmp_path, text)
    assert codes(tmp_path) == ["handler_unpackaged"]
    assert errors(lint(str(tmp_path), packaged=True)) == ()


def test_a_token_longer_than_an_argument_can_be_is_refused(tmp_path: Path) -> None:
    text = laid_over(f"commands: {{look: {{cli: [tool, {'x' * 131072}]}}}}")
    assert codes(write_pack(tmp_path, text)) == ["unrenderable_template"]


def test_a_program_that_is_a_link_out_of_the_pack_is_refused(tmp_path: Path) -> None:
    write_pack(tmp_path / "pack")
    (tmp_path / "pack/bin/tool").unlink()
    (tmp_path / "victim").write_text("#!/bin/sh\n")
    (tmp_path / "pack/bin/tool").symlink_to("../../victim")
    assert sorted(codes(tmp_path / "pack")) == ["bin_leaves_pack", "link_leaves_pack"]


SCHEMAS = st.recursive(
    st.sampled_from([None, True, 1, "string", "mock", "#/$defs/a", "#", "x.json", "object", "(", "{{a}}", "$arg"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("type", "properties", "$ref", "$defs", "anyOf", "allOf", "enum", "const", "pattern", "required"),
                    *("additionalProperties", "x-secret", "x-allow-dash", "confirm", "mode", "a", "$schema", "$arg"),
                    *("$step", "path", "items", "if", "then", "patternProperties", "dependentSchemas"),
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
TOKENS = st.lists(
    st.sampled_from(["tool", "--to", "{{a}}", "{{b}}", "--", "-", "--x={{a}}", "{{verb}}", "", "a{{a}}-{{b}}", "{{"]),
    min_size=1,
    max_size=5,
)


@given(
    st.dictionaries(st.sampled_from(["a", "type", "properties", "confirm", "mode", "$defs"]), SCHEMAS, max_size=4),
    SCHEMAS,
    TOKENS,
    st.sampled_from(["wrap", "composite", "openapi", "sense_only", "mcp"]),
)
@example({}, {"$step": []}, ["tool"], "composite")
@settings(deadline=None, max_examples=200)
def test_any_manifest_of_the_right_form_gives_findings_and_never_a_trace(
    tmp_path_factory: pytest.TempPathFactory, args: dict[str, object], value: object, tokens: list[str], kind: str
) -> None:
    step = {"name": "s", "pack_id": "demo", "verb_key": "look", "args": {"n": value}}
    command = {
        "cli": tokens,
        "args": args,
        "required": ["a", "b"],
        "steps": [step],
        "output": value,
        "mock": value,
        "examples": [{"args": {"a": value, "confirm": True}, "argv": ["x"]}],
    }
    manifest = {
        **yaml(SOUND),
        "kind": kind,
        "wrap": {"bin": "bin/tool", "argv_template": tokens},
        "mcp": {},
        "commands": {"look": command, "run": {"args": args}},
        "policy": {"look": {"operation": "write"}, "run": {"operation": "read", "binding": "local"}},
    }
    found = lint(str(write_pack(tmp_path_factory.mktemp("any"), json.dumps(manifest))))
    assert "confirm_unsaid" in {one.code for one in found}
    assert all(one.message.isprintable() and one.mend.isprintable() for one in found)
