"""One call through one face: each answers with the Result as JSON values, and what only it can tell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import msgspec

from .world import World

_TIMEOUT_S = 120
_KEPT = ("PATH", "LANG", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "TMPDIR")


class Answer(msgspec.Struct, frozen=True):
    """What came back: the Result, whether a program was started, the face's own status."""

    result: dict[str, Any]
    ran: bool
    cli_exit: int | None = None
    http_status: int | None = None
    raw: str = ""


def by_sdk(world: World, payload: object, env: Mapping[str, str]) -> Answer:
    """Call in process, the runtime's environment holding the case's variables meanwhile."""
    before = world.wraps.started
    with _environment(env):
        result = world.hcp.exec(cast("Any", payload))
    text = result.to_json().decode()
    return Answer(json.loads(text), ran=world.wraps.started > before, raw=text)


def by_cli(world: World, payload: object, env: Mapping[str, str]) -> Answer:
    """Call `hcpx exec -` in a process of its own, the envelope on its stdin."""
    text = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-m", "hcpx", "exec", "-", "--json"],
        input=text.encode("utf-8", "surrogatepass"),
        capture_output=True,
        env={**kept, **env, "HCP_HOME": world.home, "HCP_SESSION": world.token},
        cwd=world.outside,
        timeout=_TIMEOUT_S,
        check=False,
    )
    try:
        result = json.loads(done.stdout)
    except ValueError:
        shown = done.stdout[:500] + done.stderr[-500:]
        result = {"ok": None, "error": f"no JSON on stdout: {shown.decode('utf-8', 'replace')}"}
    raw = (done.stdout + done.stderr).decode("utf-8", "replace")
    ran = _ran_by_audit(world, str(result.get("audit_id")))
    return Answer(result, ran=ran, cli_exit=done.returncode, raw=raw)


def _ran_by_audit(world: World, audit_id: str) -> bool:
    """Tell from the audit whether the call, or a step below it, started something."""
    newest = world.parts.chains.backward
    with newest(world.tenant) as records:
        found = [json.loads(record.text) for record in records]
    mine = [one for one in found if audit_id in (one.get("audit_id"), one.get("parent"))]
    return any(one.get("exit_code") is not None for one in mine)


@contextmanager
def _environment(extra: Mapping[str, str]) -> Generator[None]:
    before = dict(os.environ)
    os.environ.update(extra)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


FACES = {"sdk": by_sdk, "cli": by_cli}
