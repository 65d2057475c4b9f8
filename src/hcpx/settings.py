"""Settings: one frozen value, read in one place; what is unknown or invalid means: refuse to start."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Final, Literal

import msgspec

from .vocabulary.text import nearest, shown

SEARCH_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
SandboxMode = Literal["sandbox", "native-local"]
DEFAULT_SANDBOX: Final[SandboxMode] = "sandbox"
"""The declared default where the operator chose none."""

_OURS: Final = ("HCP_HOME", "HCP_SESSION", "HCP_VAULT_KEY_FILE", "HCP_NONINTERACTIVE", "HCP_LOG")

# What the runtime itself puts into a child's environment: a nested hcpx sees it and makes nothing of it.
_GIVEN_TO_CHILDREN: Final = ("HCP_SANDBOX", "HCP_BINDING", "HCP_PACK_ID", "HCP_VERB_KEY", "HCP_REQUEST_ID")

# Variables of the cloud platform that shares the three letters; they are not for us and no typo of ours.
_FOREIGN: Final = (
    "HCP_CLIENT_ID",
    "HCP_CLIENT_SECRET",
    "HCP_ORGANIZATION_ID",
    "HCP_PROJECT_ID",
    "HCP_CRED_FILE",
    "HCP_API_ADDRESS",
    "HCP_API_HOST",
    "HCP_API_TLS",
    "HCP_AUTH_URL",
    "HCP_AUTH_TLS",
    "HCP_PORTAL_URL",
    "HCP_OAUTH_CLIENT_ID",
    "HCP_SCADA_ADDRESS",
    "HCP_SCADA_TLS",
)

_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_FALSE: Final = frozenset({"", "0", "false", "no", "off"})
_LOCALE: Final = ("LANG", "TZ")


class BadSettings(Exception):
    """A setting is unknown or invalid; the message names it and the way out."""


class Settings(msgspec.Struct, frozen=True):
    """Everything that the environment decides.

    `home` is the folder of the store. `session` is the token of `HCP_SESSION`, None where it is not set; an
    empty one is a token too, and a dead one. `interactive` is false under `CI` and `HCP_NONINTERACTIVE`.
    `locale` holds the variables of language and time zone that a child may inherit. `path` is where bare
    programs are looked up: never the caller's `PATH`.
    """

    home: str
    cwd: str | None
    session: str | None = None
    vault_key_file: str | None = None
    interactive: bool = True
    colour: bool = True
    locale: dict[str, str] = {}
    log: str | None = None
    path: str = SEARCH_PATH

    def __repr__(self) -> str:
        """Name the home; the token stays out."""
        return f"Settings(home={self.home!r})"


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Read the environment (the process's own by default), or raise `BadSettings`."""
    env = os.environ if environment is None else environment
    for name in env:
        if name.startswith("HCP_") and name not in _OURS + _GIVEN_TO_CHILDREN + _FOREIGN:
            near = nearest(name, _OURS)
            meant = f", did you mean {near}?" if near else f"; known are {', '.join(_OURS)}"
            raise BadSettings(f"unknown setting {shown(name)} in the environment{meant}")
    quiet = _switch(env, "HCP_NONINTERACTIVE") or env.get("CI", "").lower() not in _FALSE
    key_file = env.get("HCP_VAULT_KEY_FILE")
    if key_file == "":
        raise BadSettings("HCP_VAULT_KEY_FILE is empty: unset it, or name the file that holds the key")
    return Settings(
        home=_home(env),
        cwd=_cwd(),
        session=env.get("HCP_SESSION"),
        vault_key_file=key_file,
        interactive=not quiet,
        colour=not env.get("NO_COLOR") and env.get("TERM") != "dumb",
        locale={name: env[name] for name in env if name in _LOCALE or name.startswith("LC_")},
        log=env.get("HCP_LOG") or None,
    )


@contextmanager
def ambient(name: str, value: str) -> Generator[None]:
    """Set a variable of this process for the length of a block, as a token that lies around would be."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _home(env: Mapping[str, str]) -> str:
    home = env.get("HCP_HOME")
    if home is None:
        data = env.get("XDG_DATA_HOME", "")
        base = data if data.startswith("/") else f"{os.path.expanduser('~')}/.local/share"
        home = f"{base}/hcpx"
    if not home.startswith("/"):
        raise BadSettings("HCP_HOME must be an absolute path" if "HCP_HOME" in env else "HOME is not set: set HCP_HOME")
    return home


def _cwd() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None


def _switch(env: Mapping[str, str], name: str) -> bool:
    value = env.get(name, "").lower()
    if value in _TRUE:
        return True
    if value in _FALSE:
        return False
    raise BadSettings(f"{name} must be 1 or 0, not {shown(value)!r}")
