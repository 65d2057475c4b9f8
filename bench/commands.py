"""The commands that are measured, and how a right answer looks. Standard library only: workers import it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Command:
    """One command of a pack, its args, the records that a call leaves, and the `result` that is right.

    `result` None stands for any mapping: what it holds depends on the home.
    """

    pack_id: str
    verb_key: str
    args: dict[str, str] = field(default_factory=dict[str, str])
    records: int = 1
    result: object = None

    def right(self, ok: object, result: object) -> bool:
        """Tell whether this is what a call answers."""
        return ok is True and (result == self.result if self.result is not None else isinstance(result, dict))

    def line(self) -> list[str]:
        """The words behind `hcpx` that call it."""
        pairs = [f"{name}={value}" for name, value in self.args.items()]
        return ["exec", self.pack_id, self.verb_key, "--json", *(["--", *pairs] if pairs else [])]


DATABASE = "hcpx.db"
SEED_PACK = "bench-true"
HINT = {"deferred_to_cli": True, "hint": "hcpx activate bench-true"}
COMMANDS = {
    # One argument in, a small object out, in process: the work of the peers' tool.
    "read": Command("hcp-cli", "hcp.activate", {"pack": "bench-true"}, result=HINT),
    "list": Command("hcp-cli", "hcp.list"),
    "step": Command("bench-step", "once", {"pack": "bench-true"}, records=2, result=HINT),
    "look": Command("bench-true", "look", result=""),
    "act": Command("bench-true", "act", records=2, result=""),
}
PACKS = {
    "bench-step": """\
hcp: 1
id: bench-step
version: 1.0.0
title: A composite of one step
kind: composite
commands:
  once:
    summary: Ask what would activate a pack
    args: {pack: {type: string}}
    required: [pack]
    steps: [{name: only, pack_id: hcp-cli, verb_key: hcp.activate, args: {pack: {$arg: pack}}}]
    output: {$step: only}
policy:
  once: {operation: read}
""",
    "bench-true": """\
hcp: 1
id: bench-true
version: 1.0.0
title: A program that does nothing
kind: wrap
wrap: {bin: "true", json_flag: null}
commands:
  look:
    summary: Do nothing, as a read
    cli: ["true"]
    args: {}
  act:
    summary: Do nothing, as a write
    cli: ["true"]
    args: {}
    mock: {ok: true}
policy:
  look: {operation: read}
  act: {operation: write, confirm: false}
""",
}
