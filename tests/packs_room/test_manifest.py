"""A manifest that fits becomes a frozen pack (Spec 02 section 1)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcpx.packs.gate import read_pack
from hcpx.packs.manifest import args_schema, read_manifest
from hcpx.vocabulary.pack import (
    BindingFile,
    BindingSpec,
    Command,
    Example,
    Pack,
    SenseProbe,
    Skill,
    StepSpec,
    Wrap,
)
from hcpx.vocabulary.policy import Limits, PolicyRow
from tests.packs_room.sound import SOUND, laid_over, write_pack

if TYPE_CHECKING:
    from pathlib import Path

LEDGER = """\
hcp: 1
id: ledger
version: 1.2.0
title: Demo ledger
kind: wrap
wrap:
  bin: bin/tool
binding: {env: {LEDGER_TOKEN: "{{access_token}}"}}
commands:
  transfer:
    summary: Move money to a payee
    cli: ["ledger", "transfer", "{{amount}}", "--to", "{{payee}}", "--memo", "{{memo}}", "--confirm"]
    args:
      amount: {type: [string, number], description: Amount to move}
      payee: {type: string}
      memo: {type: string}
    required: [amount, payee]
    mock: {ok: true, verb: transfer, id: mock-1}
policy:
  transfer: {operation: write, confirm: true, binding: user, limits: {timeout_s: 30}}
skills: [SKILL.md]
"""


def compiled(folder: Path, manifest: str) -> Pack:
    pack = read_pack(str(write_pack(folder, manifest)), judged=False).pack
    assert pack is not None
    return pack


def test_the_documented_manifest_compiles_to_exactly_this(tmp_path: Path) -> None:
    pack = compiled(tmp_path, LEDGER)
    schema = {
        "type": "object",
        "properties": {
            "amount": {"type": ["string", "number"], "description": "Amount to move"},
            "payee": {"type": "string"},
            "memo": {"type": "string"},
        },
        "required": ["amount", "payee"],
        "additionalProperties": False,
    }
    assert pack == Pack(
        id="ledger",
        version="1.2.0",
        title="Demo ledger",
        kind="wrap",
        digest=pack.digest,
        root=str(tmp_path),
        commands={
            "transfer": Command(
                verb_key="transfer",
                summary="Move money to a payee",
                cli=(
                    "ledger",
                    "transfer",
                    "{{amount}}",
                    "--to",
                    "{{payee}}",
                    "--memo",
                    "{{memo}}",
                    "--confirm",
                ),
                args_schema=json.dumps(schema, separators=(",", ":")),
                mock='{"ok":true,"verb":"transfer","id":"mock-1"}',
            )
        },
        policy={
            "transfer": PolicyRow(
                operation="write",
                confirm=True,
                binding="user",
                limits=Limits(timeout_s=30, asked=("timeout_s",)),
            )
        },
        wrap=Wrap("bin/tool"),
        binding=BindingSpec(env={"LEDGER_TOKEN": "{{access_token}}"}),
        skills=(Skill("demo", "How to look around with the demo.", "SKILL.md"),),
        files=pack.files,
    )
    assert sorted(json.loads(pack.files)) == ["COPY.md", "SKILL.md", "bin/tool"]
    assert msgspec.json.decode(msgspec.json.encode(pack), type=Pack) == pack


def test_every_other_key_finds_its_place(tmp_path: Path) -> None:
    pack = compiled(
        tmp_path,
        laid_over(
            """
description: d
homepage: h
license: Apache-2.0
wrap:
  bin: sh
  argv_template: ["{{verb}}"]
  json_flag: [--output, json]
  agent_env: {A: b}
  unsafe_env: [PATH]
  workspace: {mode: ephemeral}
  network: [api.example]
binding:
  file: {name: key, content: "{{secret}}", env: KEY}
  oauth: {issuer: i}
  local: {files: [f]}
commands:
  look: {description: more, json_flag: null, examples: [{args: {a: 1}, argv: [x]}], mock: null}
  sum:
    steps: [{name: s, pack_id: p, verb_key: v, args: {n: {$arg: n}}}, {name: t, pack_id: p, verb_key: v}]
    output: {$step: s, path: /a}
    json_flag: -j
  far: {operation_id: op, tool: t, handler: h}
policy:
  look:
    operation: read
    approvals: 2
    privacy: {land: brain}
    idempotent: false
    limits: {output_bytes: 5, memory_mb: 6, processes: 7, concurrency: 8.0}
  sum: {operation: connect}
  far: {operation: write, confirm: false, privacy: {}}
sense: {b: {command: look, every_s: 10, badge: /n, level: info}, a: {command: look, every_s: 11.5}}
"""
        ),
    )
    assert (pack.description, pack.homepage, pack.license) == ("d", "h", "Apache-2.0")
    assert pack.wrap == Wrap(
        bin="sh",
        argv_template=("{{verb}}",),
        json_flag=("--output", "json"),
        agent_env={"A": "b"},
        unsafe_env=("PATH",),
        workspace="ephemeral",
        network=("api.example",),
    )
    assert pack.binding == BindingSpec(
        file=BindingFile("key", "{{secret}}", "KEY"),
        proposals={"oauth": {"issuer": "i"}, "local": {"files": ["f"]}},
    )
    assert pack.commands == {
        "look": Command("look", description="more", json_flag=(), examples=(Example({"a": 1}, ("x",)),), mock="null"),
        "sum": Command(
            "sum",
            steps=(StepSpec("s", "p", "v", {"n": {"$arg": "n"}}), StepSpec("t", "p", "v")),
            output='{"$step":"s","path":"/a"}',
            json_flag=("-j",),
        ),
        "far": Command("far", operation_id="op", tool="t", handler="h"),
    }
    asked = ("concurrency", "memory_mb", "output_bytes", "processes")
    limits = Limits(output_bytes=5, memory_mb=6, processes=7, concurrency=8, asked=asked)
    assert pack.policy == {
        "look": PolicyRow("read", approvals=2, land="brain", limits=limits, idempotent=False),
        "sum": PolicyRow("connect"),
        "far": PolicyRow("write"),
    }
    assert pack.sense == {"a": SenseProbe("look", 11.5), "b": SenseProbe("look", 10, "/n", "info")}


def test_a_read_is_idempotent_unless_it_says_otherwise(tmp_path: Path) -> None:
    rows = compiled(tmp_path, laid_over("policy: {look: {operation: read}, b: {operation: write}}")).policy
    assert (rows["look"].idempotent, rows["b"].idempotent) == (True, False)


@pytest.mark.parametrize(
    ("body", "schema"),
    [
        ({}, None),
        ({"args": {}}, {"type": "object", "properties": {}, "additionalProperties": False}),
        (
            {"args": {"type": {"type": "string"}}},
            {"type": "object", "properties": {"type": {"type": "string"}}, "additionalProperties": False},
        ),
        (
            {"args": {"type": "object", "properties": {"a": {}}}},
            {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
        ),
        (
            {"args": {"type": "object", "additionalProperties": True}},
            {"type": "object", "additionalProperties": True},
        ),
        (
            {"args": {"type": "object", "$ref": "#/$defs/a", "unevaluatedProperties": False}},
            {"type": "object", "$ref": "#/$defs/a", "unevaluatedProperties": False},
        ),
        (
            {"args": {"type": "object", "required": ["a"]}, "required": ["a", "b"]},
            {"type": "object", "required": ["a", "b"], "additionalProperties": False},
        ),
        (
            {"args": {"a": {}}, "required": ["a"]},
            {"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": False},
        ),
        (
            {"required": ["a"]},
            {"type": "object", "required": ["a"], "additionalProperties": True},
        ),
    ],
)
def test_args_become_one_whole_schema(body: dict[str, object], schema: dict[str, object] | None) -> None:
    before = json.dumps(body)
    assert args_schema(body) == schema
    assert json.dumps(body) == before


def test_integers_keep_all_their_digits(tmp_path: Path) -> None:
    text = laid_over("commands: {look: {cli: [a], mock: {id: 9007199254740993123}}}")
    assert compiled(tmp_path, text).commands["look"].mock == '{"id":9007199254740993123}'


@given(st.binary(max_size=300))
@settings(deadline=None, max_examples=200)
def test_any_bytes_as_manifest_give_findings(data: bytes) -> None:
    manifest = read_manifest(data)
    assert not manifest.fits
    assert all(one.severity == "error" and one.message and one.mend for one in manifest.findings)


@given(
    st.integers(0, len(SOUND)),
    st.integers(0, 30),
    st.text(alphabet="abo1:-{}[]\"'#&*!\n ,", max_size=8),
)
@settings(deadline=None, max_examples=300)
def test_a_manifest_with_a_hole_or_a_patch_gives_a_pack_or_findings(start: int, length: int, patch: str) -> None:
    manifest = read_manifest((SOUND[:start] + patch + SOUND[start + length :]).encode())
    assert manifest.fits or manifest.findings
    if manifest.fits:
        assert manifest.value()["id"]
