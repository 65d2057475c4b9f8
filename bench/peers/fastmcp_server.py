"""FastMCP: `call_tool` of a server in this process."""

from __future__ import annotations

from bench.child import Caller, Tool, main


def build(tool: Tool) -> Caller:
    """Register the tool and call it by name; the server records nothing."""
    from fastmcp import FastMCP

    server = FastMCP("bench")
    server.tool(tool, name="tool")
    return Caller(
        None,
        lambda answer: not answer.is_error and answer.structured_content == {"echo": "x"},
        acall=lambda: server.call_tool("tool", {"text": "x"}),
    )


if __name__ == "__main__":
    main(build)
