"""The log of bugs: traces under an id, which no caller ever sees."""

from __future__ import annotations

import os
import time

from hcpx.settings import BadSettings, Settings, read_settings

from .clock import SystemClock


def trouble_path(settings: Settings) -> str:
    """Return the file that traces go to."""
    return settings.log or os.path.join(settings.home, "trouble.log")


def report(error: BaseException) -> str:
    """Log a bug that a face met outside the pipeline, and return its id; never raises."""
    trouble_id = SystemClock().new_id("e")
    try:
        settings = read_settings()
    except BadSettings:
        return trouble_id
    TroubleLog(trouble_path(settings)).trouble(trouble_id, error)
    return trouble_id


class TroubleLog:
    """Appends to one 0600 file. Implements `hcpx.ports.Log`."""

    def __init__(self, path: str) -> None:
        self.path = path

    def trouble(self, trouble_id: str, error: BaseException) -> None:
        """Write the kind of the error and where it happened.

        Its message stays out: it may quote a secret. Never raises, since the guard that calls it must answer.
        """
        import traceback

        frames = "".join(
            f"  {frame.filename}:{frame.lineno} in {frame.name}\n"
            for frame in traceback.extract_tb(error.__traceback__)
        )
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        entry = f"{at} {trouble_id} {type(error).__name__}\n{frames}"
        try:
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError:
            return
        try:
            os.write(handle, entry.encode("utf-8", "replace"))
        except OSError:
            pass
        finally:
            os.close(handle)
