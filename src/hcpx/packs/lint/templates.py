"""Rules about the templates that become an argv (Spec 02 sections 2 and 6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, cast

import msgspec

from hcpx.packs.yaml_nodes import Path
from hcpx.rendering.command import CompiledCommand, compile_command
from hcpx.rendering.template import VERB, Placeholder, Template, Token, fault, placeholders
from hcpx.rendering.traits import Trait, declared
from hcpx.vocabulary.denial import Denial
from hcpx.vocabulary.pack import Command
from hcpx.vocabulary.text import nearest

from .args import is_open
from .rule import Draft, Hit, Rule

_MAX_TOKEN: Final = 128 * 1024 - 1
"""The longest argument that Linux hands to a program, in bytes."""

_SWITCHES: Final = frozenset(
    {
        *(
            "all",
            "apply",
            "color",
            "confirm",
            "debug",
            "dry-run",
            "dryrun",
            "force",
            "help",
            "interactive",
            "json",
        ),
        *("quiet", "recursive", "silent", "verbose", "version", "watch", "yes"),
    }
)
_NARROWED: Final = frozenset({"enum", "const", "pattern", "format"})


class Rendered(msgspec.Struct, frozen=True):
    """A command with the template that renders it, and where the template stands in the manifest.

    `schema` is None where the command declares no args.
    """

    command: Command
    compiled: CompiledCommand
    template: Template
    path: Path
    schema: Mapping[str, object] | None

    @property
    def traits(self) -> Mapping[str, Trait]:
        """What the schema says of each arg."""
        return self.compiled.traits

    def at(self, token: Token) -> Path:
        """Return where a token stands; one of the JSON flag stands nowhere of its own."""
        return (*self.path, token.place) if token.place >= 0 else self.path


def rendered(draft: Draft) -> Iterator[Rendered]:
    """Yield every command of a wrap pack that has a template."""
    for verb_key, command in draft.pack.commands.items():
        compiled = compile_command(draft.pack, command)
        if compiled.template is None:
            continue
        path = ("wrap", "argv_template") if command.cli is None else ("commands", verb_key, "cli")
        declares = draft.tree.at(("commands", verb_key, "args")) is not None and compiled.schema is not None
        schema = compiled.schema.body if declares and compiled.schema is not None else None
        yield Rendered(command, compiled, compiled.template, path, schema)


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


def _switch_before_placeholder(draft: Draft) -> Iterator[Hit]:
    for one in rendered(draft):
        for token in one.template.tokens:
            name = (token.flag or "").lstrip("-")
            if token.flag is not None and (name in _SWITCHES or name.startswith("no-")):
                what = f"{token.flag} looks like a switch, and goes where {token.text} is missing"
                yield Hit(f"{one.command.verb_key}: {what}", one.at(token))


def _free_text_positional(draft: Draft) -> Iterator[Hit]:
    for one in rendered(draft):
        for use in placeholders(one.template):
            if use.token.alone and not use.token.behind and one.schema is not None and _free_text(one, use):
                message = f"{one.command.verb_key}: the free text {use.name} stands where options are read"
                yield Hit(message, one.at(use.token))


def _free_text(one: Rendered, use: Placeholder) -> bool:
    if use.name not in one.traits or one.traits[use.name].allow_dash:
        return False
    for body in declared(one.schema or {})[use.name]:
        keywords = cast("dict[str, object]", body) if isinstance(body, dict) else {}
        types = keywords.get("type", "string")
        if keywords.keys() & _NARROWED or not (types == "string" or (isinstance(types, list) and "string" in types)):
            return False
    return True


def _example_fails(draft: Draft) -> Iterator[Hit]:
    for one in rendered(draft):
        for place, example in enumerate(one.command.examples):
            path = ("commands", one.command.verb_key, "examples", place)
            denial = one.compiled.check_args(example.args)
            argv = denial if denial is not None else one.compiled.render_argv(example.args)
            if isinstance(argv, Denial):
                yield Hit(f"{one.command.verb_key}: the example is refused: {argv.error}", path)
            elif argv != example.argv:
                given = ", ".join(argv)
                yield Hit(f"{one.command.verb_key}: the example gives [{given}]", (*path, "argv"))


def _optional_before_positional(draft: Draft) -> Iterator[Hit]:
    for one in rendered(draft):
        if one.schema is None:
            continue
        required = cast("list[str]", one.schema.get("required", []))
        optional: str | None = None
        for token in one.template.tokens:
            if optional is not None and token.seated and any(name in required for name in token.names):
                what = f"without {optional} every call is refused, and it is not required"
                yield Hit(f"{one.command.verb_key}: {what}", one.at(token))
                break
            if token.alone and token.names[0] not in required:
                optional = optional or token.names[0]


def cli(tokens: str, rest: str = "") -> str:
    """Return an example: a command with these tokens."""
    return f"commands: {{look: {{cli: [tool, {tokens}]{rest}}}}}"


RULES: Final = (
    Rule(
        code="unrenderable_template",
        severity="error",
        demand="A template can become an argument list: no NUL, no token too long for one, no object.",
        mend="change the token, or give the arg another type",
        check=_unrenderable_template,
        refused=(
            cli("'{{where}}'", ", args: {where: {type: object}}"),
            "wrap: {bin: bin/tool, argv_template: []}",
        ),
        fine=(cli("'{{where}}', '{ }', '{{.Name}}'", ", args: {where: {type: string}}"),),
    ),
    Rule(
        code="undeclared_placeholder",
        severity="error",
        demand="A placeholder names a declared arg, where the command declares args.",
        mend="declare the arg, or mend its name",
        check=_undeclared_placeholder,
        refused=(
            cli("'{{pth}}'", ", args: {path: {type: string}}"),
            (
                "wrap: {bin: bin/tool, argv_template: ['{{verb}}', '{{pth}}']}\n"
                "commands: {look: {args: {path: {type: string}}}}"
            ),
        ),
        fine=(
            cli("'{{path}}'", ", args: {path: {type: string}}"),
            cli("'{{path}}'"),
            cli("'{{path}}'", ", args: {type: object, additionalProperties: true}"),
            (
                "wrap: {bin: bin/tool, argv_template: ['{{verb}}', '{{path}}']}\n"
                "commands: {look: {args: {path: {type: string}}}, list: {args: {}}}\n"
                "policy: {look: {operation: read}, list: {operation: read}}"
            ),
        ),
    ),
    Rule(
        code="example_fails",
        severity="error",
        demand="An example's args give exactly its argv, JSON flag included.",
        mend="mend the example, or the template",
        check=_example_fails,
        refused=(
            cli("'{{n}}'", ", args: {n: {type: integer}}, examples: [{args: {n: 1}, argv: ['1']}]"),
            cli("'{{n}}'", ", args: {n: {type: integer}}, examples: [{args: {n: x}, argv: [x, --json]}]"),
            cli("'{{n}}'", ", examples: [{args: {n: -x}, argv: [-x, --json]}]"),
        ),
        fine=(
            cli(
                "'{{n}}'",
                ", args: {n: {type: integer}}, examples: [{args: {n: 1, apply: true}, argv: ['1', --json]}]",
            ),
        ),
    ),
    Rule(
        code="verb_arg",
        severity="error",
        demand="No arg is called verb beside an argv_template that uses {{verb}}.",
        mend="rename the arg",
        check=_verb_arg,
        refused=("wrap: {bin: bin/tool, argv_template: ['{{verb}}']}\ncommands: {look: {args: {verb: {}}}}",),
        fine=(
            cli("'{{verb}}'", ", args: {verb: {type: string}}"),
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
            cli("look", ", json_flag: '-o json'"),
        ),
        fine=("wrap: {bin: bin/tool, json_flag: [--output, json]}", "wrap: {bin: bin/tool, json_flag: null}"),
    ),
    Rule(
        code="switch_before_placeholder",
        severity="warning",
        demand="A flag in front of a placeholder takes its value, and is no switch of its own.",
        mend="put the switch elsewhere, or write --flag={{name}}",
        check=_switch_before_placeholder,
        refused=(cli("--dry-run, '{{path}}'"), cli("--no-verify, '{{path}}'")),
        fine=(cli("--dry-run, look, '{{path}}'"), cli("--file, '{{path}}'")),
    ),
    Rule(
        code="free_text_positional",
        severity="warning",
        demand="A free text in a token of its own has -- in front, so that a leading dash is no option.",
        mend="put -- in front of it where the program knows that, or narrow the arg by enum or pattern",
        check=_free_text_positional,
        refused=(cli("'{{path}}'", ", args: {path: {type: string}}"), cli("'{{n}}'", ", args: {n: {}}")),
        fine=(
            cli("--, '{{path}}'", ", args: {path: {type: string}}"),
            cli("'{{n}}'", ", args: {n: {type: integer}}"),
            cli("'{{path}}'", ", args: {path: {type: string, pattern: '^[a-z]+$'}}"),
            cli("--path, '{{path}}'", ", args: {path: {type: string}}"),
        ),
    ),
    Rule(
        code="optional_before_positional",
        severity="warning",
        demand="A positional in front of a required one is required too.",
        mend="name it in required, or put it behind",
        check=_optional_before_positional,
        refused=(cli("'{{a}}', '{{b}}'", ", args: {a: {enum: [x]}, b: {enum: [x]}}, required: [b]"),),
        fine=(
            cli("'{{a}}', '{{b}}'", ", args: {a: {enum: [x]}, b: {enum: [x]}}, required: [a]"),
            cli("--a, '{{a}}', '{{b}}'", ", args: {a: {enum: [x]}, b: {enum: [x]}}, required: [b]"),
        ),
    ),
)
