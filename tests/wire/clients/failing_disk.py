"""Runs a program whose disk fails on demand: `failing_disk.py RULES PROGRAM [ARGUMENT...]`.

RULES is a JSON file that may change while the program runs: a list of {"call", "path", "errno"}. A system call of the
kind `call` (sync, rename or write) on a file whose path matches the pattern `path` then fails with that error and leaves
a line in RULES.hits; every other call goes its way. With "HOLD" for an error the call hangs until no rule holds it any
more. The program keeps the process id of this one.

The kernel asks about each such call (seccomp_unotify(2)); a process beside the program answers.
"""

import array
import ctypes
import errno
import fcntl
import json
import os
import platform
import re
import select
import socket
import struct
import sys
from pathlib import Path
from typing import NamedTuple

# Constants of <linux/prctl.h>, <linux/seccomp.h>, <linux/filter.h> and <linux/audit.h>.
PR_SET_NO_NEW_PRIVS = 38
PR_SET_PTRACER = 0x59616D61
SECCOMP_SET_MODE_FILTER = 1
FLAG_NEW_LISTENER = 1 << 3
FLAG_WAIT_KILLABLE_RECV = 1 << 5
RET_USER_NOTIF = 0x7FC00000
RET_ALLOW = 0x7FFF0000
RESPONSE_CONTINUE = 1
NOTIF_RECV = 0xC0502100
NOTIF_SEND = 0xC0182101
# id, pid, flags; nr, arch, instruction pointer, six arguments.
NOTIFICATION = struct.Struct("=QII iIQ 6Q")
RESPONSE = struct.Struct("=QqiI")
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06

PATH_BYTES_MAX = 4096
AT_FDCWD = -100


class Machine(NamedTuple):
    audit_arch: int
    seccomp: int
    writes: tuple[int, ...]
    syncs: tuple[int, ...]
    # By the position of the new path among their arguments, and of its folder's descriptor, if any.
    renames: dict[int, tuple[int, int | None]]


MACHINES = {
    "x86_64": Machine(
        0xC000003E,
        317,
        (1, 18, 20, 296, 328),
        (74, 75),
        {82: (1, None), 264: (3, 2), 316: (3, 2)},
    ),
    "aarch64": Machine(
        0xC00000B7, 277, (64, 66, 68, 70, 287), (82, 83), {38: (3, 2), 276: (3, 2)}
    ),
}
MACHINE = MACHINES[platform.machine()]
KINDS = (
    dict.fromkeys(MACHINE.writes, "write")
    | dict.fromkeys(MACHINE.syncs, "sync")
    | dict.fromkeys(MACHINE.renames, "rename")
)

# How long a held call waits until the rules are read again.
HELD_MS = 50
HOLD = -1

libc = ctypes.CDLL(None, use_errno=True)


class Call(NamedTuple):
    identity: int
    pid: int
    number: int
    arguments: list[int]


class Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("jt", ctypes.c_uint8),
        ("jf", ctypes.c_uint8),
        ("k", ctypes.c_uint32),
    )


class Program(ctypes.Structure):
    _fields_ = (
        ("length", ctypes.c_uint16),
        ("instructions", ctypes.POINTER(Instruction)),
    )


def main() -> None:
    rules, *command = sys.argv[1:]
    ours, theirs = socket.socketpair()
    supervisor = os.fork()
    if supervisor == 0:
        ours.close()
        supervise(theirs, Path(rules))
        os._exit(0)
    theirs.close()
    libc.prctl(PR_SET_PTRACER, ctypes.c_ulong(supervisor), 0, 0, 0)
    listener = ask_about(KINDS)
    socket.send_fds(ours, [b"!"], [listener])
    os.close(listener)
    ours.close()
    os.execvp(command[0], command)


def ask_about(calls: dict[int, str]) -> int:
    """Makes this process and its children stop at these calls until they are answered at the returned listener."""
    checked(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    instructions = [
        Instruction(LOAD_WORD, 0, 0, 4),
        Instruction(JUMP_IF_EQUAL, 1, 0, MACHINE.audit_arch),
        Instruction(RETURN, 0, 0, RET_ALLOW),
        Instruction(LOAD_WORD, 0, 0, 0),
    ]
    for number in calls:
        instructions += [
            Instruction(JUMP_IF_EQUAL, 0, 1, number),
            Instruction(RETURN, 0, 0, RET_USER_NOTIF),
        ]
    instructions.append(Instruction(RETURN, 0, 0, RET_ALLOW))
    program = Program(
        len(instructions), (Instruction * len(instructions))(*instructions)
    )
    flags = FLAG_NEW_LISTENER | FLAG_WAIT_KILLABLE_RECV
    return checked(
        libc.syscall(
            MACHINE.seccomp, SECCOMP_SET_MODE_FILTER, flags, ctypes.byref(program)
        )
    )


def supervise(theirs: socket.socket, rules: Path) -> None:
    """Answers until the program and its children have ended."""
    _, (listener,), _, _ = socket.recv_fds(theirs, 1, 1)
    theirs.close()
    # The parent process waits for the end of the program's output.
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    waiting = select.poll()
    waiting.register(listener, select.POLLIN)
    held: list[Call] = []
    while True:
        events = waiting.poll(HELD_MS if held else None)
        if any(event & select.POLLHUP for _, event in events):
            return
        calls, held = held, []
        if events:
            calls += next_call(listener)
        for call in calls:
            failure = failure_of(rules, call)
            if failure == HOLD:
                held.append(call)
            else:
                answer(listener, call, failure)


def next_call(listener: int) -> list[Call]:
    """The next call that stopped; none when it has ended meanwhile, for example with its process."""
    buffer = array.array("B", bytes(NOTIFICATION.size))
    try:
        fcntl.ioctl(listener, NOTIF_RECV, buffer)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.EINTR):
            return []
        raise
    identity, pid, _, number, _, _, *arguments = NOTIFICATION.unpack(buffer)
    return [Call(identity, pid, number, arguments)]


def answer(listener: int, call: Call, failure: int) -> None:
    flags = RESPONSE_CONTINUE if failure == 0 else 0
    try:
        fcntl.ioctl(
            listener, NOTIF_SEND, RESPONSE.pack(call.identity, 0, -failure, flags)
        )
    except OSError as error:
        if error.errno != errno.ENOENT:
            raise


def failure_of(rules: Path, call: Call) -> int:
    """The error number with which a call fails; 0 lets it pass, HOLD leaves it without an answer."""
    try:
        active = json.loads(rules.read_text() or "[]")
        kind = KINDS[call.number]
        for rule in active:
            if kind != rule["call"]:
                continue
            path = path_of(call)
            if re.search(rule["path"], path):
                if rule["errno"] == "HOLD":
                    return HOLD
                with Path(f"{rules}.hits").open("a") as hits:
                    hits.write(f"{kind} {path}\n")
                return getattr(errno, rule["errno"])
    except (OSError, ValueError):
        # A process that is gone, or rules that are being written.
        return 0
    return 0


def path_of(call: Call) -> str:
    """The path of the file that is written, or the new path of a rename."""
    _, pid, number, arguments = call
    if number not in MACHINE.renames:
        return os.readlink(f"/proc/{pid}/fd/{arguments[0]}")
    position, folder_position = MACHINE.renames[number]
    name = string_at(pid, arguments[position])
    if name.startswith("/"):
        return name
    folder = (
        AT_FDCWD
        if folder_position is None
        else ctypes.c_int32(arguments[folder_position]).value
    )
    link = "cwd" if folder == AT_FDCWD else f"fd/{folder}"
    return str(Path(os.readlink(f"/proc/{pid}/{link}")) / name)


def string_at(pid: int, address: int) -> str:
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        memory.seek(address)
        # Read in two steps, since the page behind that of a short string may not be mapped.
        page = 4096 - address % 4096
        text = memory.read(page)
        if b"\0" not in text:
            text += memory.read(PATH_BYTES_MAX)
    return os.fsdecode(text.split(b"\0", 1)[0])


def checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


main()
