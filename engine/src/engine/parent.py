"""Linux: have the kernel end a process when its parent does, however that happens."""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def end_with_parent(by: signal.Signals, parent: int) -> None:
    """In the child. `parent`: its process, which may have ended before this; what counts as the end of the parent is
    the end of the thread that made the child."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, by)
        if os.getppid() != parent:
            os.kill(os.getpid(), by)
