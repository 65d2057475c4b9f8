"""Run by itself, single-threaded: listens inside another network namespace and hands the listener over.

`netns_helper.py NAMESPACE SOCKET PORT`: two descriptors and the port. A process with threads could not enter
the namespace's user namespace, and one that has could never come back: so this one does it and ends.
"""

from __future__ import annotations

import array
import ctypes
import fcntl
import os
import socket
import sys

_GET_USER_NAMESPACE = 0xB701
_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
_FREE_BIND = 15


def main(namespace: int, channel: int, port: int) -> None:
    """Enter, listen on 127.0.0.1, send the listener."""
    libc = ctypes.CDLL(None, use_errno=True)
    owner = fcntl.ioctl(namespace, _GET_USER_NAMESPACE)
    for descriptor, kind in ((owner, _NEW_USER), (namespace, _NEW_NETWORK)):
        if libc.setns(descriptor, kind) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.IPPROTO_IP, _FREE_BIND, 1)  # the loopback device may not be up yet
    listener.bind(("127.0.0.1", port))
    listener.listen(64)
    with socket.socket(fileno=channel) as one:
        one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [listener.fileno()]))])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
