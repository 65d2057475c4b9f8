"""The bare spawn: `subprocess.run` with two pipes, nothing around it."""

from __future__ import annotations

from bench.child import Caller, Tool, main


def build(tool: Tool) -> Caller:
    """Call the tool itself."""
    return Caller(lambda: tool("x"), lambda answer: answer == {"echo": "x"})


if __name__ == "__main__":
    main(build)
