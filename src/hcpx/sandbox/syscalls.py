"""What a child may not ask the kernel for, as data: numbers on x86-64 and aarch64 (Spec 04 section 2).

A number of None: the call does not exist there.
"""

from __future__ import annotations

from typing import Final

Numbers = dict[str, tuple[int | None, int | None]]

NEWEST: Final = 466
"""The newest call that was judged (`removexattrat`); whatever came later is answered ENOSYS."""

REFUSED: Final[Numbers] = {
    # the mount table and the root
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "statmount": (457, 457), "listmount": (458, 458),
    # namespaces (clone is looked at more closely)
    "unshare": (272, 97), "setns": (308, 268),
    # other processes
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "process_mrelease": (448, 448),
    "move_pages": (279, 239), "migrate_pages": (256, 238),
    # wide doors into the kernel that no wrapped tool needs
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "memfd_secret": (447, 447),
    "fanotify_init": (300, 262), "fanotify_mark": (301, 263),
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264), "lookup_dcookie": (212, 18),
    # the machine itself
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "create_module": (174, None), "get_kernel_syms": (177, None), "query_module": (178, None),
    "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "syslog": (103, 116),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "nfsservctl": (180, 42),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161), "setdomainname": (171, 162), "vhangup": (153, 58),
    "iopl": (172, None), "ioperm": (173, None), "modify_ldt": (154, None), "uselib": (134, None),
    "sysfs": (139, None), "_sysctl": (156, None),
}  # fmt: skip
"""Answered EPERM."""

ABSENT: Final[Numbers] = {
    "clone3": (435, 435), "openat2": (437, 437),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
}  # fmt: skip
"""Answered ENOSYS: programs then take the older way, whose arguments a filter can see."""

CLONE: Final = (56, 220)
IOCTL: Final = (16, 29)
SOCKET: Final = (41, 198)
SOCKETPAIR: Final = (53, 199)
PERSONALITY: Final = (135, 92)
SET_ID: Final[dict[str, tuple[int | None, int | None, int]]] = {
    "chmod": (90, None, 1), "fchmod": (91, 52, 1), "fchmodat": (268, 53, 2), "fchmodat2": (452, 452, 2),
    "creat": (85, None, 1), "mknod": (133, None, 1), "mknodat": (259, 33, 2),
}  # fmt: skip
"""Calls that can make a file set-uid or set-gid, with the index of the mode among their arguments."""
OPEN: Final[dict[str, tuple[int | None, int | None, int]]] = {"open": (2, None, 1), "openat": (257, 56, 2)}
"""The same, where they make a file: with the index of the flags; the mode stands behind them."""

WITHOUT_NAMESPACES: Final[Numbers] = {
    # by path, and no rule on paths looks at them
    "chmod": (90, None), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "lchown": (94, None), "fchownat": (260, 54),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "removexattrat": (466, 466),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None),
    "inotify_init": (253, None), "inotify_init1": (294, 26), "inotify_add_watch": (254, 27),
    # things of the host that have no path
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195),
    "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191), "semtimedop": (220, 192),
    "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
    "mq_open": (240, 180), "mq_unlink": (241, 181), "pidfd_open": (434, 434),
}  # fmt: skip
"""Answered EPERM too where no namespace hides the host's files and processes."""

ONLY_ITSELF: Final[dict[str, tuple[int | None, int | None, int]]] = {
    "prlimit64": (302, 261, 0), "setpriority": (141, 140, 1), "ioprio_set": (251, 30, 1),
    "sched_setaffinity": (203, 122, 0), "sched_setparam": (142, 118, 0), "sched_setscheduler": (144, 119, 0),
    "sched_setattr": (314, 274, 0),
}  # fmt: skip
"""There, allowed on the caller itself (0) alone, with the index of the argument that names the process."""
UTIMENSAT: Final = (280, 88)
"""There, allowed on an open file alone: its path (the second argument) must be none."""
