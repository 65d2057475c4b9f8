"""Turns a manifest that fits the schema into the frozen `Pack` that the runtime uses (Spec 02 section 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

import msgspec

from hcpx.vocabulary.finding import MANIFEST, Finding
from hcpx.vocabulary.json_text import encode
from hcpx.vocabulary.pack import (
    BindingFile,
    BindingSpec,
    Command,
    Example,
    Kind,
    Pack,
    SenseProbe,
    Skill,
    StepSpec,
    WorkspaceMode,
    Wrap,
)
from hcpx.vocabulary.policy import Family, Land, Limits, Operation, PolicyRow

from .shape import shape_findings
from .yaml_nodes import Node, read_yaml

JsonObject = dict[str, object]

_PROPOSALS: Final = ("oauth", "aws", "local", "connect")


class Manifest(msgspec.Struct, frozen=True):
    """A manifest as it was read: its nodes where it could be read, and every finding about its form."""

    root: Node | None
    findings: tuple[Finding, ...]

    @property
    def fits(self) -> bool:
        """Whether it fits the schema, so that it can be compiled."""
        return self.root is not None and not self.findings

    def value(self) -> JsonObject:
        """Return the JSON value of a manifest that fits."""
        return cast("JsonObject", cast("Node", self.root).plain())


def read_manifest(data: bytes) -> Manifest:
    """Read the bytes of a pack.yaml; any bytes give a `Manifest`, none an exception."""
    document = read_yaml(data, MANIFEST)
    if document.root is None:
        return Manifest(None, tuple(document.findings))
    return Manifest(document.root, (*document.findings, *shape_findings(document.root)))


def compile_pack(value: JsonObject, *, digest: str, root: str, skills: tuple[Skill, ...], files: str) -> Pack:
    """Compile the JSON value of a manifest that fits the schema."""
    commands = _mapping(value, "commands")
    policy = _mapping(value, "policy")
    wrap = value.get("wrap")
    return Pack(
        id=_text(value, "id"),
        version=_text(value, "version"),
        title=_text(value, "title"),
        kind=cast("Kind", value["kind"]),
        digest=digest,
        root=root,
        commands={key: _command(key, cast("JsonObject", body)) for key, body in commands.items()},
        policy={key: _row(cast("JsonObject", body)) for key, body in policy.items()},
        description=_text(value, "description"),
        homepage=_text(value, "homepage"),
        license=_text(value, "license"),
        wrap=None if wrap is None else _wrap(cast("JsonObject", wrap)),
        binding=_binding(_mapping(value, "binding")),
        skills=skills,
        sense={key: _probe(cast("JsonObject", probe)) for key, probe in sorted(_mapping(value, "sense").items())},
        openapi=_mapping(value, "openapi"),
        mcp=_mapping(value, "mcp"),
        files=files,
    )


def skill_files(value: JsonObject) -> tuple[str, ...]:
    """Return the paths that the manifest names as Skills."""
    return _texts(value.get("skills", []))


def args_schema(body: Mapping[str, object]) -> JsonObject | None:
    """Return the whole JSON Schema of a command's args, or None where none are declared.

    `args` is a map from arg name to schema, or with `type: object` at its root the whole schema;
    `additionalProperties` is false unless that, or `unevaluatedProperties`, is said. Where only `required` is
    given, any other arg is let through.
    """
    args, required = body.get("args"), list(_texts(body.get("required", [])))
    if args is None:
        return {"type": "object", "required": required, "additionalProperties": True} if required else None
    declared = cast("JsonObject", args)
    if declared.get("type") == "object":
        schema: JsonObject = dict(declared)
        own = schema.get("required", [])
        if required and isinstance(own, list):
            names = cast("list[object]", own)
            schema["required"] = [*names, *(name for name in required if name not in names)]
    else:
        schema = {"type": "object", "properties": declared}
        if required:
            schema["required"] = required
    if "unevaluatedProperties" not in schema:
        schema.setdefault("additionalProperties", False)
    return schema


def _command(verb_key: str, body: JsonObject) -> Command:
    schema = args_schema(body)
    return Command(
        verb_key=verb_key,
        summary=_text(body, "summary"),
        description=_text(body, "description"),
        cli=_texts(body["cli"]) if "cli" in body else None,
        json_flag=_json_flag(body["json_flag"]) if "json_flag" in body else None,
        args_schema=None if schema is None else _json(schema),
        mock=_json(body["mock"]) if "mock" in body else None,
        examples=tuple(
            Example(cast("JsonObject", one["args"]), _texts(one["argv"])) for one in _list(body, "examples")
        ),
        steps=tuple(
            StepSpec(_text(one, "name"), _text(one, "pack_id"), _text(one, "verb_key"), _mapping(one, "args"))
            for one in _list(body, "steps")
        ),
        output=_json(body["output"]) if "output" in body else None,
        handler=_optional(body, "handler"),
        operation_id=_optional(body, "operation_id"),
        tool=_optional(body, "tool"),
    )


def _row(body: JsonObject) -> PolicyRow:
    limits = cast("dict[str, float]", _mapping(body, "limits"))
    whole = {name: amount if name == "timeout_s" else int(amount) for name, amount in limits.items()}
    operation = cast("Operation", body["operation"])
    return PolicyRow(
        operation=operation,
        confirm=cast("bool", body.get("confirm", False)),
        approvals=int(cast("float", body.get("approvals", 0))),
        binding=cast("Family", body.get("binding", "public")),
        land=cast("Land", _mapping(body, "privacy").get("land", "none")),
        limits=msgspec.structs.replace(Limits(), **whole, asked=tuple(sorted(whole))) if whole else Limits(),
        idempotent=cast("bool", body.get("idempotent", operation == "read")),
    )


def _wrap(body: JsonObject) -> Wrap:
    workspace = _mapping(body, "workspace").get("mode", "pack")
    return Wrap(
        bin=_text(body, "bin"),
        argv_template=_texts(body["argv_template"]) if "argv_template" in body else None,
        json_flag=_json_flag(body.get("json_flag", "--json")),
        agent_env=cast("dict[str, str]", _mapping(body, "agent_env")),
        unsafe_env=_texts(body.get("unsafe_env", [])),
        workspace=cast("WorkspaceMode", workspace),
        network=_texts(body.get("network", [])),
    )


def _binding(body: JsonObject) -> BindingSpec:
    file = _mapping(body, "file")
    return BindingSpec(
        env=cast("dict[str, str]", _mapping(body, "env")),
        file=BindingFile(_text(file, "name"), _text(file, "content"), _text(file, "env")) if file else None,
        proposals={key: body[key] for key in _PROPOSALS if key in body},
    )


def _probe(body: JsonObject) -> SenseProbe:
    return SenseProbe(
        command=_text(body, "command"),
        every_s=cast("float", body["every_s"]),
        badge=_optional(body, "badge"),
        level=_optional(body, "level"),
    )


def _json_flag(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else _texts(value)


def _json(value: object) -> str:
    return encode(value).decode()


def _mapping(body: JsonObject, key: str) -> JsonObject:
    return cast("JsonObject", body.get(key, {}))


def _list(body: JsonObject, key: str) -> list[JsonObject]:
    return cast("list[JsonObject]", body.get(key, []))


def _texts(value: object) -> tuple[str, ...]:
    return tuple(cast("list[str]", value))


def _text(body: JsonObject, key: str) -> str:
    return cast("str", body.get(key, ""))


def _optional(body: JsonObject, key: str) -> str | None:
    return cast("str | None", body.get(key))
