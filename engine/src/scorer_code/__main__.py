"""Runs the code of scorers: each line of standard input is a request, answered by one line of standard output.

Each request has a process of its own, forked from this one, which never runs such code: starting Python anew takes
many times as long. The code's output is discarded. The code is confined (boundary.py); where the machine does not
allow that, each request is answered so, unless the program was started with --unconfined.
"""

import inspect
import json
import os
import resource
import selectors
import signal
import sys
import time
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypedDict, cast

import boundary

MEMORY_BYTES = 2 * 1024**3
CPU_SECONDS = 30
WALL_SECONDS = 60
OPEN_FILES = 64
ANSWER_BYTES = 4 * 1024 * 1024

NO_ANSWER = (
    f"The code did not answer: it may take {WALL_SECONDS} s, {MEMORY_BYTES // 1024**3} GiB of memory"
    f" and {ANSWER_BYTES} bytes"
)

NO_RESULT = "The code wrote something else than its result where its answer goes"

UNCONFINED = "--unconfined"

OUTPUT_NAMES = ("output", "model_output")


class Request(TypedDict):
    """The code to run: Python source, the function's name in it, the scorer's own fields, its input."""

    source: str
    name: str
    self: dict[str, Any] | None
    column_map: dict[str, str] | None
    output: Any
    inputs: dict[str, Any]


def main() -> None:
    # Ctrl-C reaches every process of a terminal; the server ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    is_confined = UNCONFINED not in sys.argv
    refusal = refusal_of_boundary() if is_confined else None
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write((refusal or answer(line, is_confined)) + b"\n")
        sys.stdout.buffer.flush()


def refusal_of_boundary() -> bytes | None:
    """The reply to every request where this machine does not confine code."""
    try:
        boundary.enter()
    except (boundary.NoBoundary, OSError) as error:
        said = (
            f"This machine does not confine code ({error}), so it is not run; HEDDLE_SCORER_CODE=run-unconfined runs it"
        )
        return json.dumps({"error": said}).encode()
    return None


def answer(request: bytes, is_confined: bool) -> bytes:
    """The reply of a process that handles one request and ends, or an error where it does not answer."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        score_alone(request, writing, is_confined)
    os.close(writing)
    reply = read_in_time(reading)
    os.close(reading)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if not reply:
        return json.dumps({"error": NO_ANSWER}).encode()
    return reply if is_answer(reply) else json.dumps({"error": NO_RESULT}).encode()


def is_answer(reply: bytes) -> bool:
    """Whether it is one line with an answer: code has the pipe, and further lines would answer later requests."""
    if not reply.isascii() or b"\n" in reply or b"\r" in reply:
        return False
    try:
        parsed = json.loads(reply)
    except (ValueError, RecursionError):
        return False
    if not isinstance(parsed, dict):
        return False
    return isinstance(parsed["error"], str) if "error" in parsed else "result" in parsed


def read_in_time(pipe: int) -> bytes | None:
    """All bytes until the pipe's end; none where that takes too long or is too much."""
    read = bytearray()
    ends = time.monotonic() + WALL_SECONDS
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while selector.select(max(0, ends - time.monotonic())):
            piece = os.read(pipe, 65536)
            read += piece
            if not piece or len(read) > ANSWER_BYTES:
                break
        else:
            return None
    return bytes(read) if len(read) <= ANSWER_BYTES else None


def score_alone(request: bytes, writing: int, is_confined: bool) -> None:
    """Answers one request and ends this process, which has only the pipe of its parent's files."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    limit()
    if is_confined:
        boundary.give_up_privileges()
    reply = reply_to(json.loads(request)).encode()
    while reply:
        reply = reply[os.write(writing, reply) :]
    os._exit(0)


def limit() -> None:
    """Answers go through a pipe, to which the limit of files does not apply."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def reply_to(request: Request) -> str:
    try:
        return json.dumps({"result": plain(score(request))}, allow_nan=False)
    except BaseException as error:  # also SystemExit: whatever the code does, there is an answer
        return json.dumps({"error": f"{type(error).__name__}: {error}"})


def score(request: Request) -> Any:
    sys.modules["weave"] = stand_in()
    scope: dict[str, Any] = {"__name__": "scorer"}
    exec(compile(request["source"], "scorer.py", "exec"), scope)
    function = scope.get(request["name"])
    if not callable(function):
        raise NameError(f"The code defines no {request['name']}")
    arguments = arguments_of(function, request)
    own = request["self"]
    result = function(**arguments) if own is None else function(types.SimpleNamespace(**own), **arguments)
    return finished(result) if inspect.isawaitable(result) else result


def finished(result: Any) -> Any:
    """The result of an awaitable; few scorers need an event loop, whose import takes longer than all the rest."""
    import asyncio

    async def awaited() -> Any:
        return await result

    return asyncio.run(awaited())


def arguments_of(function: Callable[..., Any], request: Request) -> dict[str, Any]:
    """The arguments, as the Python client passes them: the output, and the inputs that the function has names for."""
    parameters = inspect.signature(function).parameters
    inputs = dict(request["inputs"])
    for name, column in (request["column_map"] or {}).items():
        if name in inputs:
            continue
        if column not in inputs:
            raise KeyError(f"column_map names {column}, and there is only {', '.join(inputs)}")
        inputs[name] = inputs[column]
    takes_all = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values())
    arguments = {name: value for name, value in inputs.items() if takes_all or name in parameters}
    if takes_all:
        arguments.setdefault("inputs", request["inputs"])
    for name in OUTPUT_NAMES:
        if name in parameters:
            arguments[name] = request["output"]
    arguments.pop("self", None)
    return arguments


def plain(value: Any) -> Any:
    """A value as JSON: models of pydantic are their fields."""
    if hasattr(value, "model_dump"):
        return plain(value.model_dump())
    if isinstance(value, Mapping):
        members = cast(Mapping[Any, Any], value)
        return {str(key): plain(member) for key, member in members.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(member) for member in cast(Iterable[Any], value)]
    return value.item() if hasattr(value, "item") else value


def stand_in() -> types.ModuleType:
    """The names of the client's module that code of ops uses; nothing is traced."""
    module = types.ModuleType("weave")

    def same(function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    def op(function: Callable[..., Any] | None = None, **_options: Any) -> Any:
        return function if function is not None else same

    class Object:
        def __init__(self, **fields: Any) -> None:
            self.__dict__.update(fields)

    for name in ("Object", "Scorer", "Model"):
        setattr(module, name, type(name, (Object,), {}))
    module.__dict__["op"] = op
    return module


if __name__ == "__main__":
    main()
