"""vLLM's engine core as a fork of its API server, on a CPU.

vLLM starts its core as a new Python there, which imports for seven seconds what the API server has imported already,
and keeps it in memory a second time (docs/decisions/0016). With a GPU, whose state no fork may share, nothing changes.
The fork ends with the API server, also where all that would end it was killed at once: vLLM's main thread makes it,
which lives as long as its process.

vLLM finds this as a plugin, by the entry point in `heddle_engine-0.1.0.dist-info`.
"""

import os
import signal
from multiprocessing.context import ForkContext, ForkProcess
from typing import Any

from engine.parent import end_with_parent


def register() -> None:
    """May be called more than once."""
    from vllm.platforms import current_platform

    if not current_platform.is_cpu():
        return
    from vllm.utils.system_utils import get_mp_context
    from vllm.v1.engine import utils

    setattr(utils, get_mp_context.__name__, fork_context)


class Core(ForkProcess):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._api_server = os.getpid()

    def run(self) -> None:
        end_with_parent(signal.SIGKILL, self._api_server)
        super().run()


class CoreContext(ForkContext):
    Process = Core


def fork_context() -> ForkContext:
    return CoreContext()
