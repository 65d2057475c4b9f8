"""A command made ready for calls: its args checked, its argv rendered (Spec 01 section 3, Spec 02 section 2).

Compiled once for each pack digest and verb_key; a call then touches nothing but its args.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, cast

import msgspec

from hcpx.vocabulary.denial import Denial
from hcpx.vocabulary.pack import Command, Pack, Wrap
from hcpx.vocabulary.text import shown

from .arguments import CONTROL_ARGS, ArgsSchema, args_schema
from .argv import render
from .refusal import pointer, refused, unknown
from .template import Template, compile_argv_template, compile_cli
from .traits import Trait, read_traits

_MOST_COMMANDS: Final = 512
_MOST_WARNINGS: Final = 10


class CompiledCommand(msgspec.Struct, frozen=True):
    """What rendering knows of one command.

    `template` is None for a kind that starts no program, `schema` where nothing is said of the args.
    `known` are the names that a command without declared args uses (placeholders, `$arg`), None where args
    are declared or only the command's own code could tell.
    `secret` are the args whose values no message, log or audit may hold.
    """

    command: Command
    wrap: Wrap | None
    template: Template | None
    schema: ArgsSchema | None
    known: tuple[str, ...] | None
    traits: dict[str, Trait]
    secret: frozenset[str]

    def check_args(self, args: Mapping[str, object]) -> Denial | None:
        """Return the `invalid_args` denial of args that the command does not take, or None."""
        mode_declared = "mode" in self.traits
        if "mode" in args and args["mode"] != "mock" and not mode_declared:
            return refused(("mode",), 'only "mock" is known')
        if self.schema is None:
            return None
        # A declared mode keeps its own values, and "mock" means mock beside them, whatever its schema lists.
        excused = "mode" if mode_declared and args.get("mode") == "mock" else None
        return self.schema.refusal(args, self.secret, excused)

    def warnings(self, args: Mapping[str, object]) -> tuple[str, ...]:
        """Return a warning for each arg that a command without declared args does not use (rule 11)."""
        known = self.known
        if known is None:
            return ()
        strange = [name for name in args if name not in known and name not in CONTROL_ARGS]
        told = [f"{shown(pointer((name,)))}: {unknown(name, known)}" for name in strange[:_MOST_WARNINGS]]
        if len(strange) > _MOST_WARNINGS:
            told.append(f"{len(strange) - _MOST_WARNINGS} more unknown arguments")
        return tuple(told)

    def render_argv(self, args: Mapping[str, object]) -> tuple[str, ...] | Denial:
        """Return the argv behind the program's name, or the denial; a kind without a program has none."""
        if self.template is not None:
            return render(self.template, args, self.traits)
        if self.wrap is not None:
            return refused((), "the command has neither cli nor argv_template")
        return ()


_compiled: dict[tuple[str, str], CompiledCommand] = {}


def compile_command(pack: Pack, command: Command) -> CompiledCommand:
    """Return the command made ready, compiled at most once for each content."""
    key = (pack.digest, command.verb_key)
    found = _compiled.get(key)
    if found is not None and _same(found.command, command) and _same(found.wrap, _wrap(pack)):
        return found
    if len(_compiled) >= _MOST_COMMANDS:
        _compiled.clear()
    found = _compiled[key] = _compile(pack, command)
    return found


def _same(one: object, other: object) -> bool:
    return one is other or one == other


def _wrap(pack: Pack) -> Wrap | None:
    return pack.wrap if pack.kind == "wrap" else None


def _compile(pack: Pack, command: Command) -> CompiledCommand:
    wrap = _wrap(pack)
    template = None if wrap is None else template_of(wrap, command)
    schema = None if command.args_schema is None else args_schema(command.args_schema)
    traits = {} if schema is None else read_traits(schema.body)
    return CompiledCommand(
        command,
        wrap,
        template,
        schema,
        _known(pack, command, template, schema),
        traits,
        frozenset(name for name, trait in traits.items() if trait.secret),
    )


def template_of(wrap: Wrap, command: Command) -> Template | None:
    """Return the template of a wrap pack's command, None where it has neither `cli` nor `argv_template`."""
    json_flag = wrap.json_flag if command.json_flag is None else command.json_flag
    if command.cli is not None:
        return compile_cli(command.cli, json_flag)
    if wrap.argv_template is not None:
        return compile_argv_template(wrap.argv_template, command.verb_key, json_flag)
    return None


def _known(
    pack: Pack, command: Command, template: Template | None, schema: ArgsSchema | None
) -> tuple[str, ...] | None:
    """Return the args that a command without declared ones uses, None where only its own code could tell."""
    required: tuple[str, ...] = ()
    if schema is not None:
        # A command that only says which args are required declares none of them.
        if set(schema.body) != {"type", "required", "additionalProperties"}:
            return None
        required = tuple(sorted(schema.named))
    if template is not None:
        return (*template.names, *required)
    if pack.kind == "composite" and command.handler is None:
        parts = [step.args for step in command.steps]
        output = None if command.output is None else msgspec.json.decode(command.output)
        return (*dict.fromkeys(arg_names([parts, output])), *required)
    return None


def arg_names(node: object) -> Iterator[str]:
    """Yield each name that a `{$arg: name}` of a composite stands for, in order (Spec 02 section 1)."""
    if isinstance(node, dict):
        mapping = cast("dict[str, object]", node)
        name = mapping.get("$arg")
        if isinstance(name, str) and len(mapping) == 1:
            yield name
        else:
            for item in mapping.values():
                yield from arg_names(item)
    elif isinstance(node, list):
        for item in cast("list[object]", node):
            yield from arg_names(item)
