"""Projects: directories that the owner registered under an id (Spec 01 section 1)."""

from __future__ import annotations

import os
from collections.abc import Sequence

from hcpx.ports import Clock
from hcpx.vocabulary.principal import Project, is_scope_id

from . import queries
from .database import Database
from .errors import Exists, NotFound, Refused
from .principals import Principals, checked_tenant


class Projects:
    """Projects as the owner changes them."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._principals = Principals(database, clock)

    def add(self, tenant: str, project_id: str, directory: str) -> Project:
        """Register a directory by its real path. Raises `Refused`, `NotFound` for no directory, `Exists`."""
        checked_tenant(tenant)
        if not is_scope_id(project_id):
            raise Refused(f"{project_id!r} is no project id: lower-case letters, digits and single dashes, at most 64")
        real = _real_directory(directory)
        with self._database.changing():
            self._principals.admit(tenant)
            clash = self._database.one(queries.PROJECT_CLASH, (tenant, project_id, real))
            if clash is not None:
                raise Exists(f"project {clash[0]} is registered already, with {clash[1]}")
            self._database.run(queries.PROJECT_ADD, (tenant, project_id, real, self._clock.now()))
        return Project(project_id, real)

    def list(self, tenant: str) -> Sequence[Project]:
        """Return the projects of a tenant, by id."""
        return [Project(*row) for row in self._database.all(queries.PROJECTS, (tenant,))]

    def remove(self, tenant: str, project_id: str) -> None:
        """Forget a project; its directory stays as it is. Raises `NotFound`."""
        with self._database.changing():
            if self._database.run(queries.PROJECT_REMOVE, (tenant, project_id)) == 0:
                raise NotFound(f"no project {project_id} in tenant {tenant}; see: hcpx project list")


def _real_directory(directory: str) -> str:
    try:
        real = os.path.realpath(directory, strict=True)
        real.encode()
    except (OSError, ValueError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else "no valid path"
        raise NotFound(f"{directory!r} cannot be a project: {why}") from None
    if not os.path.isdir(real):
        raise Refused(f"{directory} is not a directory")
    return real
