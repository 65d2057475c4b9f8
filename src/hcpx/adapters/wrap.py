"""The adapter of kind `wrap`: a command line program is the command (Spec 01 section 3 step 6)."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Final, Protocol, cast

from msgspec.structs import replace

from hcpx.ports import Redaction, Redactor
from hcpx.sandbox.environment import Environments
from hcpx.sandbox.job import Backend, Ended, Job, NotStarted, PrivateFile
from hcpx.sandbox.programs import Found, Programs
from hcpx.sandbox.workspace import Folder, Workspaces
from hcpx.vocabulary.binding import Binding
from hcpx.vocabulary.denial import Denial, deny, hint_for, shell_quoted
from hcpx.vocabulary.invocation import Cancel, Enforced, Invocation, Program, Ran, Target
from hcpx.vocabulary.json_text import number_text
from hcpx.vocabulary.pack import Pack, WorkspaceMode, Wrap
from hcpx.vocabulary.policy import PolicyRow
from hcpx.vocabulary.text import headed

from .lanes import Lanes, no_place
from .printed import Live, Printed, printed, value_of
from .turnstile import Turnstile

NATIVE: Final = "native-local"


class Choose(Protocol):
    """Gives the backend that the operator's mode stands for, or why there is none."""

    def __call__(self, *, native_local: bool) -> Backend | Denial:
        """Choose; `native_local` is the store's owner asking for no isolation in this one call."""
        ...


class Wrapped:
    """Runs the programs of wrap packs."""

    def __init__(
        self,
        *,
        choose: Choose,
        workspaces: Workspaces,
        programs: Programs,
        redaction: Redaction,
        environments: Environments,
        lanes: Lanes,
        at_close: tuple[Callable[[], None], ...] = (),
    ) -> None:
        self._choose = choose
        self._workspaces = workspaces
        self._programs = programs
        self._redaction = redaction
        self._environments = environments
        self._lanes = lanes
        self._at_close = (workspaces.close, *at_close)
        self._turnstile = Turnstile()

    def close(self) -> None:
        """Remove what is kept on disk to be used again; no call may be running."""
        for close in self._at_close:
            close()

    def inspect(self, target: Target) -> Program | Denial:
        """Say, without starting anything, what would be started, or what step 6 would deny with."""
        found = self._found(target.pack)
        if isinstance(found, Denial):
            return found
        try:
            return Program(found.path, self._programs.digest(found.path))
        except OSError as problem:
            return deny("not_executable", bin=_wrap(target.pack).bin, why=problem.strerror or "cannot be read")

    def foreseen(self, target: Target) -> Enforced | None:
        """Say what would hold for a program of this command, without making or starting anything."""
        backend = self._choose(native_local=False)
        if isinstance(backend, Denial):
            return None
        pack, wrap, session = target.pack, _wrap(target.pack), target.session
        owner = (session.tenant, session.principal, pack.id)
        project = None if session.project is None else session.project.directory
        return backend.enforced(
            Job(
                program=Program(),
                name=wrap.bin,
                argv=(),
                env={},
                pack_root=pack.root,
                directory=Folder(self._workspaces.path(wrap.workspace, pack.root, project, owner)),
                writable=_may_write(wrap.workspace, target.row),
                limits=target.row.limits,
                keep=0,
                cancel=Cancel(),
                network=wrap.network,
            )
        )

    def can_mock(self, target: Target) -> bool:  # noqa: ARG002 -- it is the same for every wrap command
        """Tell whether no network and an ephemeral workspace can be guaranteed here."""
        backend = self._choose(native_local=False)
        return not isinstance(backend, Denial) and backend.can_mock()

    def run(self, invocation: Invocation) -> Ran | Denial:
        """Run the program; a Denial means that nothing was started."""
        if _connects(invocation):
            return _deferred(invocation)
        backend = self._choose(native_local=invocation.native_local)
        if isinstance(backend, Denial):
            return backend
        if invocation.mock and not backend.can_mock():
            return deny("no_mock", pack_id=invocation.pack.id, verb_key=invocation.command.verb_key)
        limits = invocation.row.limits
        key = (invocation.session.tenant, invocation.pack.id, invocation.command.verb_key)
        until = monotonic() + limits.timeout_s
        entered = self._turnstile.enter(key, limits.concurrency, limits.timeout_s, invocation.cancel)
        if entered != "in":
            return no_place(entered, limits.concurrency)
        try:
            # The default is held within this process; what somebody asked for is held between processes too.
            if "concurrency" not in limits.asked:
                return self._run(invocation, backend)
            place = self._lanes.take(key, limits.concurrency, until - monotonic(), invocation.cancel)
            if isinstance(place, Denial):
                return place
            with place:
                return self._run(invocation, backend)
        finally:
            self._turnstile.leave(key)

    def _run(self, invocation: Invocation, backend: Backend) -> Ran | Denial:
        if invocation.cancel.cancelled:
            return deny("cancelled")
        pack = invocation.pack
        found = self._found(pack)
        if isinstance(found, Denial):
            return found
        session = invocation.session
        mode = _mode(invocation)
        owner = (session.tenant, session.principal, pack.id)
        directory = self._workspaces.open(mode, pack.root, invocation.directory, owner)
        try:
            if directory.problem is not None:
                return _no_directory(pack, mode, directory.problem)
            return self._started(invocation, backend, found, directory)
        finally:
            directory.close()

    def _started(self, invocation: Invocation, backend: Backend, found: Found, directory: Folder) -> Ran | Denial:
        files = _files(invocation.binding)
        if files is None:
            return deny("sandbox_unavailable", why="the private file of the binding has no plain name")
        redactor = self._redaction.of(invocation.binding)
        cap = invocation.row.limits.output_bytes
        live = None if invocation.on_output is None else Live(invocation.on_output, redactor, cap)
        wrap = _wrap(invocation.pack)
        ended = backend.run(
            Job(
                program=Program(found.path),
                name=found.name,
                argv=invocation.argv,
                env=self._environment(invocation, wrap, backend),
                pack_root=invocation.pack.root,
                directory=directory,
                writable=_is_writable(invocation),
                limits=invocation.row.limits,
                keep=cap + redactor.slack,
                cancel=invocation.cancel,
                network=() if invocation.mock else wrap.network,
                files=files,
                on_output=None if live is None else live.take,
            )
        )
        if isinstance(ended, NotStarted):
            return _refused(invocation.pack, ended)
        if live is not None:
            live.finish()
        return _ran(invocation, ended, redactor)

    def _found(self, pack: Pack) -> Found | Denial:
        wrap = _wrap(pack)
        found = self._programs.find(wrap.bin, pack.root)
        if isinstance(found, Found):
            return found
        if found.why is not None:
            return deny("not_executable", bin=wrap.bin, why=found.why)
        return deny("not_allowlisted", bin=wrap.bin, hint=found.hint)

    def _environment(self, invocation: Invocation, wrap: Wrap, backend: Backend) -> dict[str, str]:
        facts = {
            "HCP_SANDBOX": NATIVE if backend.name == NATIVE else "sandbox",
            "HCP_BINDING": invocation.binding.family,
            "HCP_PACK_ID": invocation.pack.id,
            "HCP_VERB_KEY": invocation.command.verb_key,
            "HCP_REQUEST_ID": invocation.envelope.request_id or invocation.audit_id,
        }
        return self._environments.of(wrap.agent_env, invocation.binding.env, facts)


def _wrap(pack: Pack) -> Wrap:
    if pack.wrap is None:
        raise TypeError(f"a pack of kind {pack.kind} came to the adapter for wrap")
    return pack.wrap


def _connects(invocation: Invocation) -> bool:
    """Tell whether the command is the one whose result `hcpx connect` takes the secret from (Spec 03, connect)."""
    declared = invocation.pack.binding.proposals.get("connect")
    return isinstance(declared, dict) and (
        cast("dict[str, object]", declared).get("command") == invocation.command.verb_key
    )


def _deferred(invocation: Invocation) -> Ran:
    """Answer with the owner's line: run here, the command would hand a secret to its caller."""
    line = f"hcpx connect {shell_quoted(invocation.pack.id)}"
    return Ran(value={"deferred_to_cli": True, "hint": hint_for(invocation.session.actor, line)}, started=False)


def _mode(invocation: Invocation) -> WorkspaceMode:
    return "ephemeral" if invocation.mock else _wrap(invocation.pack).workspace


def _is_writable(invocation: Invocation) -> bool:
    return _may_write(_mode(invocation), invocation.row)


def _may_write(mode: WorkspaceMode, row: PolicyRow) -> bool:
    """Tell whether the working directory may be written to: never a pack's own (Spec 04 section 2)."""
    return mode in ("workspace", "ephemeral") or (mode == "project" and row.land == "local")


def _files(binding: Binding) -> tuple[PrivateFile, ...] | None:
    """Return the private files of a Binding, or None where a name could lead elsewhere."""
    if binding.file is None:
        return ()
    name, content, env = binding.file
    if not name or "/" in name or "\0" in name or name in (".", "..") or env.startswith("HCP_"):
        return None
    return (PrivateFile(name, content.encode("utf-8", "surrogateescape"), env),)


def _no_directory(pack: Pack, mode: WorkspaceMode, problem: str) -> Denial:
    if mode in ("project", "pack"):
        return deny("not_executable", bin=_wrap(pack).bin, why=problem)
    return deny("sandbox_unavailable", why=problem)


def _refused(pack: Pack, refusal: NotStarted) -> Denial:
    if refusal.code == "not_executable":
        return deny("not_executable", bin=_wrap(pack).bin, why=refusal.why)
    return deny("sandbox_unavailable", why=refusal.why)


def _ran(invocation: Invocation, ended: Ended, redactor: Redactor) -> Ran:
    limits = invocation.row.limits
    stdout = printed(ended.stdout, ended.stdout_size, limits.output_bytes, redactor)
    stderr = printed(ended.stderr, ended.stderr_size, limits.output_bytes, redactor)
    code, error = _failure(ended, stderr, limits.timeout_s)
    held = {**ended.enforced.limits, "concurrency": limits.concurrency}
    return Ran(
        value=value_of(stdout, redactor),
        code=code,
        error=error,
        exit_code=ended.exit_code,
        stdout=stdout.text,
        stderr=stderr.text,
        stdout_bytes=stdout.data,
        stderr_bytes=stderr.data,
        truncated=tuple(name for name, one in (("stdout", stdout), ("stderr", stderr)) if one.cut),
        enforced=replace(ended.enforced, limits=held),
        warnings=ended.warnings,
        output_sizes={"stdout": ended.stdout_size, "stderr": ended.stderr_size},
        contacts=tuple(replace(one, host=redactor.text(one.host)) for one in ended.network),
    )


def _failure(ended: Ended, stderr: Printed, timeout_s: float) -> tuple[str | None, str | None]:
    """Return code and error text, both None for a success (Spec 07)."""
    if ended.how == "timeout":
        return "timeout", deny("timeout", seconds=number_text(timeout_s)).error
    if ended.how == "cancelled":
        return "cancelled", deny("cancelled").error
    if ended.exit_code == 0:
        return None, None
    return "exit", headed(stderr.text.strip()) or f"exit {ended.exit_code}"
