"""Errors, with advice for the user."""

import errno
import gc
import re
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager

import torch
from huggingface_hub.errors import LocalEntryNotFoundError
from jinja2 import TemplateError

from engine.problem import Problem, one_line

DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class InputProblem(Problem):
    """Something in what a job was given; `place` is its path, as in trajectory_groups[0].trajectories[1]."""

    def __init__(self, place: str, text: str) -> None:
        super().__init__(f"{place}: {text}" if place else text)
        self.place, self.text = place, text


@contextmanager
def at(place: str) -> Generator[None]:
    """Errors about the input from inner code name the place; nested places join to a path."""
    try:
        yield
    except InputProblem as error:
        raise InputProblem(f"{place}{separator(error.place)}{error.place}", error.text) from error
    except KeyError as error:
        raise InputProblem(place, f"the field {error} is missing") from error
    except TemplateError as error:
        raise InputProblem(place, f"the chat template does not take it: {error}") from error
    except (TypeError, AttributeError, IndexError) as error:
        raise InputProblem(place, f"it has another shape than a chat completion's messages: {error}") from error
    except RecursionError as error:
        raise InputProblem(place, "it is nested too deeply") from error
    except ValueError as error:
        raise InputProblem(place, str(error)) from error


def separator(place: str) -> str:
    return "." if place and not place.startswith("[") else ""


def explain(error: Exception) -> str:
    """One line for the user. Any error ends only its own request. Unexpected errors go to the log with their traceback.
    A Problem does not: its message may quote the user's data, and the log is shared by all users."""
    if isinstance(error, Problem):
        return str(error)
    traceback.print_exception(error, file=sys.stderr)
    if is_out_of_memory(error):
        # The tensors of the failed row are still held by the frames of the error.
        traceback.clear_frames(error.__traceback__)
        gc.collect()
        return (
            "out of memory: train on shorter trajectories, set HEDDLE_GRADIENT_CHECKPOINTING=on, or use a machine "
            f"with more memory ({one_line(error)})"
        )
    if is_disk_full(error):
        return f"the disk is full: free some space and run the job again; nothing was saved ({one_line(error)})"
    return f"{type(error).__name__}: {one_line(error)}"


def may_pass(error: BaseException) -> bool:
    """Whether a later start may succeed: a machine, a disk or a network lacked something, not the base model."""
    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None:
        causes.append(cause)
    return any(
        isinstance(one, ConnectionError | TimeoutError | LocalEntryNotFoundError)
        or (isinstance(one, Exception) and (is_out_of_memory(one) or is_disk_full(one)))
        or "CUDA error" in str(one)
        for one in causes
    )


def is_out_of_memory(error: Exception) -> bool:
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and bool(
        re.search(r"can't allocate memory|not enough memory|out of memory|bad_alloc", str(error))
    )


def is_disk_full(error: Exception) -> bool:
    """Python's own errors carry the number; those of native writers only mention it."""
    if isinstance(error, OSError) and error.errno in DISK_FULL:
        return True
    return any(f"os error {number}" in str(error) for number in DISK_FULL)
