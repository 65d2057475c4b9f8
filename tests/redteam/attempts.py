"""The attempts of the red team: what each one is, and where it works when nothing holds it."""

from __future__ import annotations

from typing import NamedTuple

PRIVATE, OWNED, ORDINARY = "root, private workspace", "root, root's project", "ordinary user"
SETTINGS = (PRIVATE, OWNED, ORDINARY)
ROOT = (PRIVATE, OWNED)
NO_CGROUP = (ORDINARY,)


NOT_BY_THE_FALLBACK = frozenset({"see_processes", "host_name_seen", "fill_home"})
"""What Landlock has no means against: docs/concepts/sandbox.md names each."""


class Attempt(NamedTuple):
    """`attack` is the function of attacks.py; `where` the settings in which it works when nothing holds it.

    `unpromised` names the settings in which a sandbox does not claim to hold it: docs/concepts/sandbox.md
    says so too.
    """

    attack: str
    title: str
    where: tuple[str, ...] = SETTINGS
    unpromised: tuple[str, ...] = ()


ATTEMPTS = (
    Attempt("read_secret", "read a secret of the host"),
    Attempt("list_home", "list a folder of the host"),
    Attempt("read_accounts", "read the accounts of the machine"),
    Attempt("read_other_workspace", "read another tenant's workspace by its path"),
    Attempt("read_other_workspace_upwards", "read another tenant's workspace by ..", (PRIVATE, ORDINARY)),
    Attempt("read_host_tmp", "read a file in the /tmp of the host"),
    Attempt("read_host_shm", "read a file in the /dev/shm of the host"),
    Attempt("list_run", "see the sockets and pid files in /run"),
    Attempt("write_outside", "write a file of the host"),
    Attempt("chmod_outside", "change the mode of a file of the host"),
    Attempt("touch_outside", "change the times of a file of the host"),
    Attempt("label_outside", "set an attribute on a file of the host"),
    Attempt("truncate_outside", "truncate a file of the host"),
    Attempt("watch_outside", "watch a folder of the host"),
    Attempt("read_through_link", "read through a symlink of its own"),
    Attempt("write_through_planted_link", "write through a symlink that lay in the workspace"),
    Attempt("hardlink_secret", "hard-link a file of the host into the workspace"),
    Attempt("rename_into_workspace", "move a file of the host into the workspace"),
    Attempt("write_pack", "change its own pack"),
    Attempt("write_system", "write into /usr", ROOT),
    Attempt("climb_above_root", "climb above the root by an O_PATH descriptor"),
    Attempt("chroot_escape", "change the root directory"),
    Attempt("inherited_directory", "use a directory descriptor of the runtime"),
    Attempt("inherited_any", "find any inherited descriptor"),
    Attempt("set_uid_chmod", "make a set-uid file by chmod"),
    Attempt("set_uid_open", "make a set-uid file by open"),
    Attempt("set_gid_fchmod", "make a set-gid file by fchmod"),
    Attempt("device_node", "make a device node", ROOT),
    Attempt("by_handle", "open a file by handle", ROOT),
    Attempt("handle_of", "get a file's handle"),
    Attempt("other_users_file", "read another user's file in the project", (OWNED,)),
    Attempt("environ_of_others", "read the environment of other processes"),
    Attempt("command_lines_of_others", "read the command lines of other processes"),
    Attempt("host_paths_in_first_process", "find host paths in a command line"),
    Attempt("root_of_others", "reach the host through /proc/*/root"),
    Attempt("descriptors_of_victim", "reach files through /proc/*/fd"),
    Attempt("memory_of_victim", "read another process's memory through /proc"),
    Attempt("see_processes", "see a process of the host"),
    Attempt("core_pattern", "write /proc/sys/kernel/core_pattern", ROOT),
    Attempt("sysctl_open", "open another sysctl for writing", ROOT),
    Attempt("sysrq", "open /proc/sysrq-trigger for writing", ROOT),
    Attempt("interrupts", "open /proc/irq for writing", ROOT),
    Attempt("kernel_log_device", "open /dev/kmsg for writing", ROOT),
    Attempt("disk_device", "open the disk's device", ROOT),
    Attempt("kernel_tree", "see /sys"),
    Attempt("cgroup_tree", "write a cgroup's release agent", ROOT),
    Attempt("tcp_loopback", "connect to a TCP service on loopback"),
    Attempt("tcp_all_zeros", "the same through 0.0.0.0"),
    Attempt("tcp_loopback6", "the same over IPv6"),
    Attempt("udp_loopback", "talk to a UDP service on loopback"),
    Attempt("unix_outside", "connect to a unix socket of the host"),
    Attempt("unix_in_workspace", "connect to a host's unix socket inside the workspace"),
    Attempt("unix_abstract", "connect to an abstract unix socket"),
    Attempt("unix_datagram_by_pair", "reach a datagram socket from a socket pair"),
    Attempt("unix_raw_pair", "the same from a pair of raw type"),
    Attempt("netlink", "bind a netlink socket"),
    Attempt("vsock", "make a vsock socket"),
    Attempt("packet", "make a packet socket", ROOT),
    Attempt("raw_ip", "make a raw IP socket", ROOT),
    Attempt("family_behind_high_bits", "hide the socket family behind a high bit"),
    Attempt("host_interfaces", "see the host's network interfaces and connections"),
    Attempt("signal_victim", "signal a process of the host"),
    Attempt("signal_everybody", "signal the runtime"),
    Attempt("pidfd_of_victim", "get a pidfd of a process of the host"),
    Attempt("slow_victim_down", "change the priority of a process of the host"),
    Attempt("limit_victim", "change the limits of a process of the host"),
    Attempt("ptrace_victim", "trace a process of the host"),
    Attempt("ptrace_own_child", "trace at all"),
    Attempt("read_victim", "read another process's memory by process_vm_readv"),
    Attempt("steal_descriptor", "take another process's descriptor"),
    Attempt("compare_kernel", "compare kernel objects of another process"),
    Attempt("shared_memory", "attach the host's SysV shared memory"),
    Attempt("unshare_user", "make a user namespace by unshare"),
    Attempt("clone_user", "make a user namespace by clone"),
    Attempt("clone3_user", "make a user namespace by clone3"),
    Attempt("join_namespace", "join a namespace of the host", ROOT),
    Attempt("mount_tmpfs", "mount"),
    Attempt("remount_writable", "remount the system", ROOT),
    Attempt("new_mount_api", "use the new mount calls"),
    Attempt("bpf", "load BPF", ROOT),
    Attempt("io_uring", "set up io_uring"),
    Attempt("userfault", "use userfaultfd"),
    Attempt("kernel_key", "add a key to the kernel's keyring"),
    Attempt("kernel_keyring", "ask for a kernel keyring"),
    Attempt("perf", "open performance events"),
    Attempt("kernel_module", "unload a kernel module", ROOT),
    Attempt("new_kernel", "load another kernel", ROOT),
    Attempt("swap", "switch swap off", ROOT),
    Attempt("host_name", "set the host's name", ROOT),
    Attempt("host_name_seen", "learn the host's name"),
    Attempt("clock", "set the clock", ROOT),
    Attempt("kernel_log", "read the kernel's log", ROOT),
    Attempt("fanotify", "watch the file system"),
    Attempt("other_architecture", "use the 32-bit system calls"),
    Attempt("personality", "change its personality"),
    Attempt("terminal_input", "type into a terminal"),
    Attempt("terminal_input_high_bits", "the same with a high bit set"),
    Attempt("line_discipline", "set a terminal's line discipline"),
    Attempt("read_stdin", "read the runtime's stdin"),
    Attempt("capabilities", "hold capabilities", ROOT),
    Attempt("new_privileges", "gain privileges by exec"),
    Attempt("set_uid_program", "become root by a set-uid program", (PRIVATE, ORDINARY)),
    Attempt("environment", "find the runtime's environment in its own"),
    Attempt("fork_bomb", "start more processes than allowed"),
    Attempt("thread_bomb", "start more threads than allowed"),
    Attempt("memory", "take more memory than allowed", unpromised=NO_CGROUP),
    Attempt("memory_of_heap", "take more heap than allowed"),
    Attempt("memory_of_tree", "take more memory than allowed in several processes", unpromised=NO_CGROUP),
    Attempt("big_file", "write a larger file than allowed"),
    Attempt("fill_tmp", "fill /tmp"),
    Attempt("fill_home", "fill the home folder"),
    Attempt("fill_shared_memory", "fill /dev/shm"),
    Attempt("fill_dev", "fill /dev", ROOT),
    Attempt("fill_root", "fill the root", ROOT),
    Attempt("many_files", "open more files than allowed"),
    Attempt("raise_limits", "raise its own limits"),
    Attempt("stay_alive", "leave a process behind"),
)
