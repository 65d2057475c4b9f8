"""hcpx: the HCP runtime. One exec envelope and one fail-closed pipeline for every Invoker.

`Hcp` is the way in; the other names are the values that it takes and gives. Importing `hcpx` loads none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .faces.library import Hcp
    from .vocabulary.denial import ApprovalTicket, Cause
    from .vocabulary.envelope import Envelope
    from .vocabulary.invocation import Cancel, Enforced
    from .vocabulary.result import Result

    __version__: str

__all__ = ["ApprovalTicket", "Cancel", "Cause", "Enforced", "Envelope", "Hcp", "Result", "__version__"]

_HOMES = {
    "ApprovalTicket": "vocabulary.denial",
    "Cancel": "vocabulary.invocation",
    "Cause": "vocabulary.denial",
    "Enforced": "vocabulary.invocation",
    "Envelope": "vocabulary.envelope",
    "Hcp": "faces.library",
    "Result": "vocabulary.result",
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        from .vocabulary.version import VERSION

        return VERSION
    home = _HOMES.get(name)
    if home is None:
        message = f"module 'hcpx' has no attribute {name!r}"
        raise AttributeError(message)
    from importlib import import_module

    return getattr(import_module(f".{home}", __name__), name)


def __dir__() -> list[str]:
    return __all__
