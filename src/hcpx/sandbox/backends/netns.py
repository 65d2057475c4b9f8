"""A listener inside a sandbox's own network namespace, served from outside (Spec 04 section 2, network)."""

from __future__ import annotations

import os
import socket
import sys
from typing import Final

from hcpx.sandbox import spawn
from hcpx.vocabulary.invocation import Cancel

PORT: Final = 3128
"""Where the proxy is, inside: nobody else is there whose port it could be."""

_HELPER: Final = os.path.join(os.path.dirname(__file__), "netns_helper.py")
_HELPER_S: Final = 20.0


def variables() -> dict[str, str]:
    """Return what tells programs of the proxy."""
    url = f"http://127.0.0.1:{PORT}"
    names = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
    return {**dict.fromkeys(names, url), "no_proxy": "", "NO_PROXY": ""}


def listener(first: int) -> socket.socket:
    """Return a listener on 127.0.0.1:PORT in the network namespace of a process. Raises OSError."""
    namespace = os.open(f"/proc/{first}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    ours, theirs = socket.socketpair()
    try:
        argv = (sys.executable, "-I", "-S", _HELPER, str(namespace), str(theirs.fileno()), str(PORT))
        ended = spawn.run(
            spawn.Command(
                executable=sys.executable,
                argv=argv,
                env={},
                timeout_s=_HELPER_S,
                keep=4096,
                cancel=Cancel(),
                pass_fds=(namespace, theirs.fileno()),
            )
        )
        theirs.close()
        if not isinstance(ended, spawn.Finished) or ended.status != 0:
            raise OSError(0, "no listener can be made in the sandbox's network namespace")
        _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
        return socket.socket(fileno=descriptors[0])
    finally:
        os.close(namespace)
        ours.close()
        theirs.close()
