"""The question at a terminal: what is about to happen, and one word to agree (Spec 05 section 1)."""

from __future__ import annotations

import json
import sys

import msgspec

from hcpx.runtime import Explanation

from .people import visible

_YES = frozenset({"y", "yes"})


def agreed(explanation: Explanation, args: dict[str, object]) -> bool:
    """Show the call and return whether the person says yes; end of input is a no."""
    target = explanation.target
    if target is None:
        return False
    row = {name: value for name, value in msgspec.to_builtins(target.row).items() if name != "limits"}
    lines = {
        "command": f"{target.pack.id}.{target.command.verb_key}  {target.command.summary}",
        "args": json.dumps(args, ensure_ascii=False),
        "argv": json.dumps(explanation.argv, ensure_ascii=False) if explanation.argv is not None else "",
        "program": explanation.program or "",
        "pack": f"{target.pack.id} {target.pack.version}  {target.pack.digest}",
        "policy": json.dumps(row, ensure_ascii=False),
        "credential": target.row.binding,
        "project": target.session.project.directory if target.session.project is not None else "",
    }
    for name, text in lines.items():
        if text:
            sys.stderr.write(f"{name:>10}  {visible(text)}\n")
    sys.stderr.write("Run it? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in _YES
