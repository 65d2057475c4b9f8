"""The environment of a program, made from nothing (Spec 03, "Environment")."""

from __future__ import annotations

from collections.abc import Mapping


class Environments:
    """Makes environments; of the runtime's own variables only the locale's and `TZ` go in."""

    def __init__(self, search_path: str, variables: Mapping[str, str]) -> None:
        locale = {name: value for name, value in variables.items() if name in ("LANG", "TZ") or name.startswith("LC_")}
        self._base = {"PATH": search_path, **locale, "TERM": "dumb", "NO_COLOR": "1"}

    def of(
        self, agent_env: Mapping[str, str], binding_env: Mapping[str, str], facts: Mapping[str, str]
    ) -> dict[str, str]:
        """Return the whole environment but for what a backend adds: HOME, TMPDIR, paths of private files.

        What comes later wins, so that neither a pack nor a credential sets the `facts` (`HCP_SANDBOX` ...).
        """
        return {**self._base, **agent_env, **binding_env, **facts}
