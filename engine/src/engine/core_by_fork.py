"""vLLM's engine core as a fork of its API server, on a CPU.

vLLM starts its core as a new Python there, which imports for seven seconds what the API server has imported already,
and keeps it in memory a second time (docs/decisions/0016). With a GPU, whose state no fork may share, nothing changes.
vLLM finds this as a plugin, by the entry point in `heddle_engine-0.1.0.dist-info`.
"""

import multiprocessing
from multiprocessing.context import ForkContext


def register() -> None:
    """May be called more than once."""
    from vllm.platforms import current_platform

    if not current_platform.is_cpu():
        return
    from vllm.utils.system_utils import get_mp_context
    from vllm.v1.engine import utils

    setattr(utils, get_mp_context.__name__, fork_context)


def fork_context() -> ForkContext:
    return multiprocessing.get_context("fork")
