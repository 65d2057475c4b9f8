"""Exit statuses, and failures that end a command line (Spec 05 section 1, Spec 07)."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from hcpx.vocabulary.denial import CATALOGUE, Denial, deny
from hcpx.vocabulary.json_text import encode
from hcpx.vocabulary.result import Result

INTERRUPTED = 130
"""128 + SIGINT."""
BROKEN_PIPE = 141
"""128 + SIGPIPE, what a shell expects of a program whose reader went away."""


def exit_status(result: Result) -> int:
    """Return 0 for ok, the child's own status where that decided, else the catalogue's."""
    if result.ok:
        return 0
    code = str(result.code)
    status = CATALOGUE[code].exit
    if status is not None:
        return status
    return result.exit_code if isinstance(result.exit_code, int) and result.exit_code else 1


def failure(denial: Denial, *, as_json: bool, details: Mapping[str, object] | None = None) -> int:
    """Print what stopped a command line, JSON on stdout or for people on stderr; return the status.

    `details` are further fields of the JSON.
    """
    try:
        sys.stdout.flush()
    except OSError as trouble:
        quiet_pipe()
        as_json = as_json and isinstance(trouble, BrokenPipeError)
    if not as_json or not _printed(denial, details or {}):
        sys.stderr.write(f"hcpx: {denial.error}\n")
        if denial.hint is not None:
            sys.stderr.write(f"hint: {denial.hint}\n")
    status = CATALOGUE[denial.code].exit
    return status if status is not None else 1


def _printed(denial: Denial, details: Mapping[str, object]) -> bool:
    """Print a denial as JSON; False where stdout takes nothing any more though somebody reads it."""
    body: dict[str, object] = {"ok": False, "code": denial.code, "error": denial.error}
    if denial.hint is not None:
        body["hint"] = denial.hint
    try:
        sys.stdout.buffer.write(encode(body | dict(details)) + b"\n")
        sys.stdout.buffer.flush()
    except OSError as trouble:
        quiet_pipe()
        return isinstance(trouble, BrokenPipeError)
    return True


def unwritten(trouble: OSError) -> Denial:
    """Return what a refusal of the system means here, such as a full disk behind stdout."""
    name = f"{trouble.filename!r}: " if trouble.filename is not None else ""
    return deny("store_unavailable", why=f"{name}{(trouble.strerror or 'unknown error').lower()}")


def usage_failure(what: str, *, as_json: bool, hint: str = "hcpx --help") -> int:
    """Print a usage error."""
    return failure(deny("usage", what=what, hint=hint), as_json=as_json)


def quiet_pipe() -> int:
    """End quietly after the reader of stdout went away."""
    # What is still buffered would raise once more at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return BROKEN_PIPE
