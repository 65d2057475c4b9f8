"""Settings of all tests: a property is judged by what is found, never by how long the machine takes."""

from __future__ import annotations

import signal

from hypothesis import settings

settings.register_profile("hcpx", deadline=None)
settings.load_profile("hcpx")

for _number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    # A suite that a shell started in the background ignores these, and so would every program that it starts.
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL)
