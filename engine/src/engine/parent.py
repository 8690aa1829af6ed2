"""Linux: have the kernel end a process when its parent does, however that happens."""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def end_with_parent(by: signal.Signals, parent: int) -> None:
    """To be called in the child. `parent`: the id of its parent, which may have ended already. The kernel sends the
    signal when the thread that forked ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, by)
        if os.getppid() != parent:
            os.kill(os.getpid(), by)
