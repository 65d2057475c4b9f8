"""Step 2, authenticate: a live session, and what land and workspace need of its project."""

from __future__ import annotations

from hcpx.ports import Call, Ports
from hcpx.vocabulary.denial import Denial, deny
from hcpx.vocabulary.invocation import Target
from hcpx.vocabulary.principal import Session

from . import ways_out
from .stages import Authenticated, Resolved


def identify(ports: Ports, call: Call) -> Session | Denial:
    """Return the live session behind a call; a call without one learns nothing (Spec 01 section 3)."""
    given = call.session
    session = ports.sessions.live(call.credential) if given is None else ports.sessions.again(given)
    return session if session is not None else deny("unauthenticated")


def admit(ports: Ports, resolved: Resolved) -> Authenticated | Denial:
    """Ask for the project that land `brain` (first) and workspace `project` need, and open its directory."""
    target = resolved.target
    project = target.session.project
    if target.row.land == "brain" and project is None:
        return _project_required(target, "privacy.land brain")
    if target.pack.wrap is None or target.pack.wrap.workspace != "project":
        return Authenticated(resolved, None)
    if project is None:
        return _project_required(target, "workspace project")
    return Authenticated(resolved, ports.directories.open(project.directory))


def _project_required(target: Target, what: str) -> Denial:
    hint = ways_out.project(target.session, target.pack.id, target.command.verb_key)
    return deny("project_required", what=what, hint=hint)
