"""The environment of a program, made from nothing (Spec 03, "Environment")."""

from __future__ import annotations

from collections.abc import Mapping


def environment(
    search_path: str,
    locale: Mapping[str, str],
    agent_env: Mapping[str, str],
    binding_env: Mapping[str, str],
    facts: Mapping[str, str],
) -> dict[str, str]:
    """Return the whole environment but for what a backend adds: HOME, TMPDIR and the paths of private files.

    Of `locale`, the runtime's own variables, only `LANG`, `LC_*` and `TZ` go in. What comes later wins, so
    that neither a pack nor a credential can set the `facts` (`HCP_SANDBOX` and so on).
    """
    shown = {
        name: value for name, value in locale.items() if name in ("LANG", "TZ") or name.startswith("LC_")
    }
    return {
        "PATH": search_path,
        **shown,
        "TERM": "dumb",
        "NO_COLOR": "1",
        **agent_env,
        **binding_env,
        **facts,
    }
