"""Hints that fit the session that met the denial: activations, scope and project are each session's own.

What the catalogue says fits the owner's own session, so that there `None` keeps it.
"""

from __future__ import annotations

from hcpx.vocabulary.capability import ANY
from hcpx.vocabulary.denial import shell_quoted
from hcpx.vocabulary.principal import Session


def activate(session: Session, pack_id: str) -> str | None:
    """Name the session that is to have the pack; where its scope keeps the pack out, it takes a new one."""
    if session.owner:
        return None
    if session.scope is not None and all(grant.pack_id not in (ANY, pack_id) for grant in session.scope):
        return new_session(session, pack_id)
    return f"hcpx activate {shell_quoted(pack_id)} --on {shell_quoted(session.id)}"


def project(session: Session, pack_id: str, verb_key: str) -> str | None:
    """Say how a call gets a project: in the owner's own session by its folder, in another when that is made."""
    if session.owner:
        return "call from inside a project (hcpx project list), or make one: hcpx project add ID DIR"
    return new_session(session, pack_id, verb_key, project="ID")


def new_session(session: Session, pack_id: str, verb_key: str | None = None, *, project: str | None = None) -> str:
    """Name the command that makes a session for the same principal and actor which this call fits."""
    if project is None and session.project is not None:
        project = session.project.id
    words = {
        "--principal": session.principal,
        "--actor": session.actor,
        "--project": project,
        "--pack": pack_id,
        "--verb": verb_key,
    }
    given = (f" {option} {shell_quoted(word)}" for option, word in words.items() if word is not None)
    return "hcpx session new" + "".join(given)
