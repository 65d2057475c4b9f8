"""MCP SDK: `call_tool` of a server in this process."""

from __future__ import annotations

from bench.child import Caller, Tool, main


def build(tool: Tool) -> Caller:
    """Register the tool and call it by name; the server records nothing."""
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("bench")
    server.tool(name="tool")(tool)
    return Caller(
        None,
        lambda answer: not answer.is_error and '"echo": "x"' in answer.content[0].text,
        acall=lambda: server.call_tool("tool", {"text": "x"}),
    )


if __name__ == "__main__":
    main(build)
