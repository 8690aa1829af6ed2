"""Confines the code of scorers by what the Linux kernel offers to every user; nothing has to be installed.

The program that runs the code gets namespaces of its own: it sees no other process, no network, and of the files only
Python and the system's libraries, read-only. A process that runs code has no privileges besides, and may start neither
processes nor programs. Where the kernel refuses one of these, there is no boundary.
"""

import ctypes
import errno
import os
import platform
import signal
import sys
from pathlib import Path

# linux/sched.h
CLONE_NEWNS = 0x00020000
CLONE_THREAD = 0x00010000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

# linux/mount.h
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000
MNT_DETACH = 2
MOUNT_ATTR_RDONLY = 1
MOUNT_ATTR_NOSUID = 2
AT_FDCWD = -100
AT_RECURSIVE = 0x8000

# linux/prctl.h, linux/seccomp.h, linux/capability.h
PR_SET_PDEATHSIG = 1
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_MODE_FILTER = 2
SECCOMP_RET_KILL_PROCESS = 0x80000000
SECCOMP_RET_ERRNO = 0x00050000
SECCOMP_RET_ALLOW = 0x7FFF0000
CAPABILITY_VERSION_3 = 0x20080522

# linux/bpf_common.h
BPF_LOAD_WORD = 0x20
BPF_JUMP_EQUAL = 0x15
BPF_JUMP_AT_LEAST = 0x35
BPF_JUMP_BITS = 0x45
BPF_RETURN = 0x06

# Places in the data that a seccomp filter sees: struct seccomp_data, little endian.
SYSCALL_NUMBER = 0
ARCHITECTURE = 4
FIRST_ARGUMENT = 16

UNPRIVILEGED_ID = 65534  # the overflow user and group of Linux, which own no files

MOUNT_POINT = "/tmp"  # is on every Linux; what it held is out of sight then

# Beside Python's own folders. What of them is a link stays one.
SYSTEM_FOLDERS = ("/usr", "/lib", "/lib64", "/bin", "/nix/store")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/localtime", "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")

# Of each machine the number that names it to seccomp, and of its system calls those that the code may not make: on this
# machine's processes, programs, namespaces and mounts, on memory that no limit counts, and on much used attack surface.
MACHINES = {
    "x86_64": (
        0xC000003E,
        dict(
            fork=57, vfork=58, execve=59, execveat=322, ptrace=101, process_vm_readv=310, process_vm_writev=311,
            unshare=272, setns=308, mount=165, umount2=166, pivot_root=155, keyctl=250, add_key=248, request_key=249,
            bpf=321, perf_event_open=298, userfaultfd=323, open_by_handle_at=304, shmget=29, msgget=68, mq_open=240,
            memfd_create=319,
        ),
        dict(clone=56, socket=41, pivot_root=155),
    ),
    "aarch64": (
        0xC00000B7,
        dict(
            execve=221, execveat=281, ptrace=117, process_vm_readv=270, process_vm_writev=271,
            unshare=97, setns=268, mount=40, umount2=39, pivot_root=41, keyctl=219, add_key=217, request_key=218,
            bpf=280, perf_event_open=241, userfaultfd=282, open_by_handle_at=265, shmget=194, msgget=186, mq_open=180,
            memfd_create=279,
        ),
        dict(clone=220, socket=198, pivot_root=41),
    ),
}  # fmt: skip
# These have the same number everywhere.
NEWER_CALLS = dict(
    io_uring_setup=425, io_uring_enter=426, io_uring_register=427, open_tree=428, move_mount=429, fsopen=430,
    fsconfig=431, fsmount=432, fspick=433, pidfd_getfd=438, mount_setattr=442,
)  # fmt: skip
CLONE3 = 435
X32_CALLS = 0x40000000  # from here on: other numbers for the same calls of x86_64

# Families of sockets that end in the empty network namespace; others, such as AF_VSOCK, have no namespace.
SOCKET_FAMILIES = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6


class NoBoundary(Exception):
    """Why this machine does not confine code."""


def enter() -> None:
    """Confine this process and all that it forks. Returns in a new process, with which the calling one ends.

    :raises NoBoundary: nothing may run then
    """
    if sys.platform != "linux" or platform.machine() not in MACHINES:
        raise NoBoundary(f"{platform.system()} on {platform.machine()} is not supported")
    is_root = os.geteuid() == 0
    user, group = os.geteuid(), os.getegid()
    wanted = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
    # Root needs no user namespace for the others, and leaves its user behind before it runs code.
    must("namespaces", libc().unshare(wanted if is_root else wanted | CLONE_NEWUSER))
    if not is_root:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    become_first_process()
    show_only(visible_folders(), SYSTEM_FILES)


def give_up_privileges() -> None:
    """Of this process, which runs code next.

    :raises NoBoundary: where the kernel refuses
    """
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(UNPRIVILEGED_ID, UNPRIVILEGED_ID, UNPRIVILEGED_ID)
        os.setresuid(UNPRIVILEGED_ID, UNPRIVILEGED_ID, UNPRIVILEGED_ID)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    must("capabilities", libc().capset(header, (ctypes.c_uint32 * 6)()))
    must("privileges", libc().prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    instructions = call_filter(platform.machine())
    code = (Instruction * len(instructions))(*(Instruction(*each) for each in instructions))
    program = Program(len(instructions), ctypes.cast(code, ctypes.POINTER(Instruction)))
    must("system calls", libc().prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0))


class Instruction(ctypes.Structure):
    """struct sock_filter of linux/filter.h"""

    _fields_ = (("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("k", ctypes.c_uint32))


class Program(ctypes.Structure):
    """struct sock_fprog of linux/filter.h"""

    _fields_ = (("length", ctypes.c_uint16), ("code", ctypes.POINTER(Instruction)))


def call_filter(machine: str) -> list[tuple[int, int, int, int]]:
    """The filter of system calls: (code, instructions to skip if so, if not, value)."""
    architecture, denied, known = MACHINES[machine]
    refuse = (BPF_RETURN, 0, 0, SECCOMP_RET_ERRNO | errno.EPERM)
    allow = (BPF_RETURN, 0, 0, SECCOMP_RET_ALLOW)
    code = [
        (BPF_LOAD_WORD, 0, 0, ARCHITECTURE),
        (BPF_JUMP_EQUAL, 1, 0, architecture),
        (BPF_RETURN, 0, 0, SECCOMP_RET_KILL_PROCESS),
        (BPF_LOAD_WORD, 0, 0, SYSCALL_NUMBER),
        (BPF_JUMP_AT_LEAST, 0, 1, X32_CALLS),
        refuse,
    ]
    for number in (*denied.values(), *NEWER_CALLS.values()):
        code += [(BPF_JUMP_EQUAL, 0, 1, number), refuse]
    # Its flags cannot be seen; the C library then takes clone.
    code += [(BPF_JUMP_EQUAL, 0, 1, CLONE3), (BPF_RETURN, 0, 0, SECCOMP_RET_ERRNO | errno.ENOSYS)]
    threads_only = [(BPF_JUMP_BITS, 0, 1, CLONE_THREAD), allow, refuse]
    code += only_where(known["clone"], threads_only)
    families = [step for family in SOCKET_FAMILIES for step in ((BPF_JUMP_EQUAL, 0, 1, family), allow)]
    code += only_where(known["socket"], [*families, refuse])
    return [*code, allow]


def only_where(number: int, steps: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    """Steps that look at the first argument of one system call, and end in a decision."""
    return [(BPF_JUMP_EQUAL, 0, len(steps) + 1, number), (BPF_LOAD_WORD, 0, 0, FIRST_ARGUMENT), *steps]


def become_first_process() -> None:
    """Go on as process 1 of the new namespace, with which all processes in it end."""
    first = os.fork()
    if first != 0:
        _, status = os.waitpid(first, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    must("the end with the server", libc().prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))


def visible_folders() -> list[str]:
    """Where Python and the libraries of the system are; no folder is within another."""
    python = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, os.path.dirname(__file__)}
    folders = {path for folder in (*python, *SYSTEM_FOLDERS) for path in (folder, os.path.realpath(folder))}
    outer: list[str] = []
    for folder in sorted(folders):
        is_within = any(folder.startswith(f"{other}/") for other in outer)
        # A Python at the root of the file system would show all of it.
        if folder != "/" and not is_within and os.path.isdir(folder):
            outer.append(folder)
    return outer


def show_only(folders: list[str], files: tuple[str, ...]) -> None:
    """Make a read-only tree of these the whole file system of this process."""
    sources = {path: os.open(path, os.O_PATH) for path in (*folders, *files) if os.path.exists(path)}
    links = {path: os.readlink(path) for path in folders if os.path.islink(path) and path in SYSTEM_FOLDERS}
    mount("", "/", MS_REC | MS_PRIVATE)
    mount("tmpfs", MOUNT_POINT, 0, kind="tmpfs", options="size=1m,mode=755")
    for path, source in sources.items():
        target = MOUNT_POINT + path
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if path in links:
            os.symlink(links[path], target)
            continue
        if os.path.isdir(f"/proc/self/fd/{source}"):
            os.makedirs(target, exist_ok=True)
        else:
            os.close(os.open(target, os.O_CREAT, 0o644))
        mount(f"/proc/self/fd/{source}", target, MS_BIND | MS_REC)
    attributes = (ctypes.c_uint64 * 4)(MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID, 0, 0, 0)
    read_only = (NEWER_CALLS["mount_setattr"], AT_FDCWD, MOUNT_POINT.encode(), AT_RECURSIVE)
    must("a read-only view", libc().syscall(*read_only, ctypes.byref(attributes), ctypes.sizeof(attributes)))
    os.chdir(MOUNT_POINT)
    _, _, known = MACHINES[platform.machine()]
    must("a root of its own", libc().syscall(known["pivot_root"], b".", b"."))
    must("a root of its own", libc().umount2(b".", MNT_DETACH))
    os.chdir("/")
    for source in sources.values():
        os.close(source)


def mount(source: str, target: str, flags: int, *, kind: str = "", options: str = "") -> None:
    texts = (source.encode(), target.encode(), kind.encode())
    must(f"mounting {target}", libc().mount(*texts, ctypes.c_ulong(flags), options.encode()))


def must(what: str, result: int) -> None:
    if result < 0:
        raise NoBoundary(f"the system refuses {what}: {os.strerror(ctypes.get_errno())}")


def libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
