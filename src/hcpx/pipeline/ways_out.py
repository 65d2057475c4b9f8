"""Hints that fit the session that met the denial: scope and project are each session's own.

What the catalogue says fits the owner's own session, so that there `None` keeps it.
"""

from __future__ import annotations

from hcpx.vocabulary.denial import shell_quoted
from hcpx.vocabulary.principal import Session


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
