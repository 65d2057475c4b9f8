"""Rules about the templates that become an argv (Spec 02 sections 2 and 6)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final, cast

import msgspec

from hcpx.packs.yaml_nodes import Path
from hcpx.rendering.template import (
    VERB,
    Placeholder,
    Template,
    Token,
    compile_argv_template,
    compile_cli,
    fault,
    is_flag,
    placeholders,
)
from hcpx.rendering.traits import declared, read_traits
from hcpx.vocabulary.pack import Command
from hcpx.vocabulary.text import nearest

from .args import is_open
from .binding import TEMPLATE_NAMES
from .rule import Draft, Hit, Rule

_MAX_TOKEN: Final = 128 * 1024 - 1
"""The longest argument that Linux hands to a program, in bytes."""

_SWITCHES: Final = frozenset(
    "all apply color confirm debug dry-run dryrun force help interactive json no-color quiet recursive silent verbose"
    " version watch yes".split()
)
_SECRET_WORDS: Final = (
    "password passwd passphrase secret token api-key apikey access-key secret-key private-key client-secret"
    " auth-token access-token refresh-token bearer credential credentials".split()
)
_BRACES: Final = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
_VARIABLE: Final = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)")
_NARROWED: Final = frozenset({"enum", "const", "pattern", "format"})


class Rendered(msgspec.Struct, frozen=True):
    """A command with the template that renders it, and where the template stands in the manifest."""

    command: Command
    template: Template
    path: Path
    schema: dict[str, object] | None

    def at(self, token: Token) -> Path:
        """Return where a token stands; one of the JSON flag stands nowhere of its own."""
        return (*self.path, token.place) if token.place >= 0 else self.path


def rendered(draft: Draft) -> Iterator[Rendered]:
    """Yield every command of a wrap pack that has a template."""
    wrap = draft.pack.wrap
    if draft.pack.kind != "wrap" or wrap is None:
        return
    for verb_key, command in draft.pack.commands.items():
        flag = wrap.json_flag if command.json_flag is None else command.json_flag
        schema = _declared_schema(draft, command)
        if command.cli is not None:
            yield Rendered(command, compile_cli(command.cli, flag), ("commands", verb_key, "cli"), schema)
        elif wrap.argv_template is not None:
            template = compile_argv_template(wrap.argv_template, verb_key, flag)
            yield Rendered(command, template, ("wrap", "argv_template"), schema)


def _declared_schema(draft: Draft, command: Command) -> dict[str, object] | None:
    """Return the schema of a command that declares args, else None."""
    node = draft.tree.at(("commands", command.verb_key, "args"))
    if node is None or command.args_schema is None:
        return None
    return cast("dict[str, object]", json.loads(command.args_schema))


def _unrenderable_template(draft: Draft) -> Iterator[Hit]:
    wrap = draft.pack.wrap
    lists: list[tuple[Path, tuple[str, ...]]] = [
        (("commands", key, "cli"), command.cli)
        for key, command in draft.pack.commands.items()
        if command.cli is not None
    ]
    if wrap is not None and wrap.argv_template is not None:
        lists.append((("wrap", "argv_template"), wrap.argv_template))
    for path, tokens in lists:
        wrong = fault(tokens)
        if wrong is not None:
            yield Hit(f"{path[-1]} {wrong[1]}", (*path, wrong[0]))
        for place, text in enumerate(tokens):
            if len(text.encode("utf-8", "surrogatepass")) > _MAX_TOKEN:
                yield Hit("the token is longer than an argument can be", (*path, place))
    for one in rendered(draft):
        for use in placeholders(one.template):
            if one.schema is not None and _object_only(declared(one.schema).get(use.name, [])):
                message = f"{one.command.verb_key}: {use.name} is an object, which cannot become an argument"
                yield Hit(message, one.at(use.token))


def _object_only(declarations: list[object]) -> bool:
    bodies = [cast("dict[str, object]", one) for one in declarations if isinstance(one, dict)]
    return any(body.get("type") in ("object", ["object"]) for body in bodies)


def _undeclared_placeholder(draft: Draft) -> Iterator[Hit]:
    every = list(rendered(draft))
    shared: set[str] = set()
    for one in every:
        if one.path[0] == "wrap":
            shared |= set(declared(one.schema)) if one.schema is not None else set(one.template.names)
    for one in every:
        if one.schema is None or is_open(one.schema):
            continue
        names = declared(one.schema)
        for use in placeholders(one.template):
            if use.name not in names and not (one.path[0] == "wrap" and use.name in shared):
                near = nearest(use.name, tuple(names))
                message = f"{one.command.verb_key}: {{{{{use.name}}}}} is no declared arg"
                yield Hit(message, one.at(use.token), f"did you mean {near}?" if near else None)


def _verb_arg(draft: Draft) -> Iterator[Hit]:
    for one in rendered(draft):
        if one.template.verb is not None and one.schema is not None and VERB in declared(one.schema):
            message = f"{one.command.verb_key}: an arg called verb, beside an argv_template that uses it"
            yield Hit(message, ("commands", one.command.verb_key, "args"))


def _json_flag_blanks(draft: Draft) -> Iterator[Hit]:
    paths: list[Path] = [("wrap", "json_flag")]
    paths += [("commands", verb_key, "json_flag") for verb_key in draft.pack.commands]
    for path in paths:
        node = draft.tree.at(path)
        if node is not None and isinstance(node.value, str) and any(char.isspace() for char in node.value):
            tokens = ", ".join(node.value.split())
            yield Hit(f'"{node.value}" is one token with blanks', path, f"write a list: [{tokens}]")


def _credential_in_cli(draft: Draft) -> Iterator[Hit]:
    variables = {*draft.pack.binding.env}
    if draft.pack.binding.file is not None:
        variables.add(draft.pack.binding.file.env)
    for one in rendered(draft):
        known = declared(one.schema) if one.schema is not None else {}
        secret_flag = False
        for token in one.template.tokens:
            what = _credential(token, known, variables, after_secret_flag=secret_flag)
            if what is not None:
                yield Hit(f"{one.command.verb_key}: {what}", one.at(token))
            secret_flag = not token.names and is_flag(token.text) and _secret_word(token.text)


def _credential(
    token: Token, known: dict[str, list[object]], variables: set[str], *, after_secret_flag: bool
) -> str | None:
    """Say which credential a token holds, or return None."""
    for name in cast("list[str]", _BRACES.findall(token.text)):
        if name.startswith("binding.") or (name in TEMPLATE_NAMES and name not in known):
            return f"{{{{{name}}}}} would put a credential into the argument list"
    for name in cast("list[str]", _VARIABLE.findall(token.text)):
        if name in variables:
            return f"${name} is no placeholder, and a credential does not belong into the argument list"
    flag, equals, value = token.text.partition("=")
    literal = not token.names and token.text not in ("", "-", "--")
    if literal and (
        (after_secret_flag and not is_flag(token.text)) or (equals and value and _secret_word(flag))
    ):
        return "a credential is written out"
    return None


def _secret_word(flag: str) -> bool:
    name = flag.lower().lstrip("-").replace("_", "-")
    return flag.startswith("-") and any(name == word or name.endswith(f"-{word}") for word in _SECRET_WORDS)


def _secret_in_argv(draft: Draft) -> Iterator[Hit]:
    for one in rendered(draft):
        traits = read_traits(one.schema) if one.schema is not None else {}
        for use in placeholders(one.template):
            secret = use.name in traits and traits[use.name].secret
            if secret or _secret_word(f"-{use.name}"):
                message = (
                    f"{one.command.verb_key}: the secret arg {use.name} is seen by whoever lists processes"
                )
                yield Hit(message, one.at(use.token))


def _switch_before_placeholder(draft: Draft) -> Iterator[Hit]:
    for one in rendered(draft):
        for token in one.template.tokens:
            name = (token.flag or "").lstrip("-")
            if token.flag is not None and (name in _SWITCHES or name.startswith("no-")):
                message = f"{one.command.verb_key}: {token.flag} looks like a switch, and goes where {token.text} is missing"
                yield Hit(message, one.at(token))


def _free_text_positional(draft: Draft) -> Iterator[Hit]:
    for one in rendered(draft):
        for use in placeholders(one.template):
            if (
                use.token.alone
                and not use.token.behind
                and one.schema is not None
                and _free_text(one.schema, use)
            ):
                message = f"{one.command.verb_key}: the free text {use.name} stands where options are read"
                yield Hit(message, one.at(use.token))


def _free_text(schema: dict[str, object], use: Placeholder) -> bool:
    traits = read_traits(schema)
    if use.name not in traits or traits[use.name].allow_dash:
        return False
    for body in declared(schema)[use.name]:
        keywords = cast("dict[str, object]", body) if isinstance(body, dict) else {}
        types = keywords.get("type", "string")
        if keywords.keys() & _NARROWED or not (
            types == "string" or (isinstance(types, list) and "string" in types)
        ):
            return False
    return True


def _optional_before_positional(draft: Draft) -> Iterator[Hit]:
    for one in rendered(draft):
        if one.schema is None:
            continue
        required = cast("list[str]", one.schema.get("required", []))
        optional: str | None = None
        for token in one.template.tokens:
            if optional is not None and token.seated and any(name in required for name in token.names):
                message = f"{one.command.verb_key}: without {optional} every call is refused, and it is not required"
                yield Hit(message, one.at(token))
                break
            if token.alone and token.names[0] not in required:
                optional = optional or token.names[0]


def _cli(tokens: str, rest: str = "") -> str:
    return f"commands: {{look: {{cli: [tool, {tokens}]{rest}}}}}"


RULES: Final = (
    Rule(
        code="unrenderable_template",
        severity="error",
        demand="A template can become an argument list: no NUL, no token longer than an argument can be, no object.",
        mend="change the token, or give the arg another type",
        check=_unrenderable_template,
        refused=(
            _cli("'{{where}}'", ", args: {where: {type: object}}"),
            "wrap: {bin: bin/tool, argv_template: []}",
        ),
        fine=(_cli("'{{where}}', '{ }', '{{.Name}}'", ", args: {where: {type: string}}"),),
    ),
    Rule(
        code="undeclared_placeholder",
        severity="error",
        demand="A placeholder names a declared arg, where the command declares args.",
        mend="declare the arg, or mend its name",
        check=_undeclared_placeholder,
        refused=(
            _cli("'{{pth}}'", ", args: {path: {type: string}}"),
            "wrap: {bin: bin/tool, argv_template: ['{{verb}}', '{{pth}}']}\n"
            "commands: {look: {args: {path: {type: string}}}}",
        ),
        fine=(
            _cli("'{{path}}'", ", args: {path: {type: string}}"),
            _cli("'{{path}}'"),
            _cli("'{{path}}'", ", args: {type: object, additionalProperties: true}"),
            "wrap: {bin: bin/tool, argv_template: ['{{verb}}', '{{path}}']}\n"
            "commands: {look: {args: {path: {type: string}}}, list: {args: {}}}\n"
            "policy: {look: {operation: read}, list: {operation: read}}",
        ),
    ),
    Rule(
        code="verb_arg",
        severity="error",
        demand="No arg is called verb beside an argv_template that uses {{verb}}.",
        mend="rename the arg",
        check=_verb_arg,
        refused=(
            "wrap: {bin: bin/tool, argv_template: ['{{verb}}']}\ncommands: {look: {args: {verb: {type: string}}}}",
        ),
        fine=(
            _cli("'{{verb}}'", ", args: {verb: {type: string}}"),
            "wrap: {bin: bin/tool, argv_template: ['run']}\ncommands: {look: {args: {verb: {type: string}}}}",
        ),
    ),
    Rule(
        code="json_flag_blanks",
        severity="error",
        demand="json_flag as a text is one token without blanks.",
        mend="write a list",
        check=_json_flag_blanks,
        refused=(
            "wrap: {bin: bin/tool, json_flag: --output json}",
            _cli("look", ", json_flag: '-o json'"),
        ),
        fine=("wrap: {bin: bin/tool, json_flag: [--output, json]}", "wrap: {bin: bin/tool, json_flag: null}"),
    ),
    Rule(
        code="credential_in_cli",
        severity="error",
        demand="No credential gets into the argument list, which every user of the machine can read.",
        mend="deliver it by binding.env or binding.file",
        check=_credential_in_cli,
        refused=(
            _cli("--token, '{{binding.token}}'"),
            _cli("--token, '{{access_token}}'"),
            _cli("'--header=Bearer {{ secret }}'"),
            _cli("--password, hunter2"),
            _cli("--api-key=hunter2"),
            "binding: {env: {TOOL_TOKEN: '{{secret}}'}}\n" + _cli("-H, $TOOL_TOKEN"),
        ),
        fine=(
            _cli("--token, '{{token}}'", ", args: {token: {type: string, x-secret: true}}"),
            _cli("--token-file, key.txt, --password-stdin"),
            _cli("--secret, --verbose"),
        ),
    ),
    Rule(
        code="secret_in_argv",
        severity="warning",
        demand="A secret arg does not get into the argument list.",
        mend="let hcpx connect store it and deliver it by binding.env; at least say x-secret: true",
        check=_secret_in_argv,
        refused=(
            _cli("--token, '{{token}}'"),
            _cli("--pin, '{{pin}}'", ", args: {pin: {type: string, x-secret: true}}"),
        ),
        fine=(_cli("--pin, '{{pin}}'", ", args: {pin: {type: string}}"),),
    ),
    Rule(
        code="switch_before_placeholder",
        severity="warning",
        demand="A flag in front of a placeholder takes its value, and is no switch of its own.",
        mend="put the switch elsewhere, or write --flag={{name}}",
        check=_switch_before_placeholder,
        refused=(_cli("--dry-run, '{{path}}'"), _cli("--no-verify, '{{path}}'")),
        fine=(_cli("--dry-run, look, '{{path}}'"), _cli("--file, '{{path}}'")),
    ),
    Rule(
        code="free_text_positional",
        severity="warning",
        demand="A free text in a token of its own has -- in front, so that a leading dash is no option.",
        mend="put -- in front of it where the program knows that, or narrow the arg by enum or pattern",
        check=_free_text_positional,
        refused=(_cli("'{{path}}'", ", args: {path: {type: string}}"), _cli("'{{n}}'", ", args: {n: {}}")),
        fine=(
            _cli("--, '{{path}}'", ", args: {path: {type: string}}"),
            _cli("'{{n}}'", ", args: {n: {type: integer}}"),
            _cli("'{{path}}'", ", args: {path: {type: string, pattern: '^[a-z]+$'}}"),
            _cli("--path, '{{path}}'", ", args: {path: {type: string}}"),
        ),
    ),
    Rule(
        code="optional_before_positional",
        severity="warning",
        demand="A positional in front of a required one is required too.",
        mend="name it in required, or put it behind",
        check=_optional_before_positional,
        refused=(_cli("'{{a}}', '{{b}}'", ", args: {a: {enum: [x]}, b: {enum: [x]}}, required: [b]"),),
        fine=(
            _cli("'{{a}}', '{{b}}'", ", args: {a: {enum: [x]}, b: {enum: [x]}}, required: [a]"),
            _cli("--a, '{{a}}', '{{b}}'", ", args: {a: {enum: [x]}, b: {enum: [x]}}, required: [b]"),
        ),
    ),
)
