"""Tenuo: a guarded function under a minted warrant, its audit a JSON line in a file."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack

from bench.child import Caller, Tool, main

SCOPE = ExitStack()  # closed with the process


def build(tool: Tool) -> Caller:
    """Guard the tool and enter a warrant that covers it."""
    from tenuo import Capability, Pattern, SigningKey, configure, guard, mint_sync
    from tenuo.audit import audit_logger

    key = SigningKey.generate()
    configure(issuer_key=key, trusted_roots=[key.public_key])
    lines = tempfile.TemporaryFile("w+")  # noqa: SIM115  # open for as long as the process lives
    audit_logger.configure(handler=lambda event: print(event.to_json(), file=lines, flush=True))

    def records() -> int:
        lines.seek(0)
        return sum("authorization_success" in line for line in lines)

    guarded = guard(tool=tool.__name__)(tool)
    SCOPE.enter_context(mint_sync(Capability(tool.__name__, text=Pattern("*")), ttl=86_400))
    return Caller(lambda: guarded(text="x"), lambda answer: answer == {"echo": "x"}, records)


if __name__ == "__main__":
    main(build)
