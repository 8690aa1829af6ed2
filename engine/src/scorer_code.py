"""Runs the code of one scorer once, with limits: a request comes on standard input, its result goes to standard output.

What the code prints goes nowhere. The limits keep a mistake from harming the machine; they are no wall against malice.
"""

import asyncio
import contextlib
import inspect
import io
import json
import resource
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypedDict, cast

MEMORY_BYTES = 2 * 1024**3
CPU_SECONDS = 30
OPEN_FILES = 64

OUTPUT_NAMES = ("output", "model_output")


class Request(TypedDict):
    """What is to be run: Python source, the function's name in it, the scorer's own fields, what it scores."""

    source: str
    name: str
    self: dict[str, Any] | None
    column_map: dict[str, str] | None
    output: Any
    inputs: dict[str, Any]


def main() -> None:
    request: Request = json.load(sys.stdin)
    limit()
    answer = sys.stdout
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        reply = reply_to(request)
    answer.write(reply)


def limit() -> None:
    """Standard output is a pipe, to which the limit of files does not apply."""
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
    return asyncio.run(awaited(result)) if inspect.isawaitable(result) else result


async def awaited(result: Any) -> Any:
    return await result


def arguments_of(function: Callable[..., Any], request: Request) -> dict[str, Any]:
    """What is passed, as the Python client does it: the output, and the inputs that the function has names for."""
    parameters = inspect.signature(function).parameters
    inputs = dict(request["inputs"])
    for name, column in (request["column_map"] or {}).items():
        if column not in inputs:
            raise KeyError(f"column_map names {column}, and there is only {', '.join(inputs)}")
        inputs.setdefault(name, inputs[column])
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
    """A value as JSON has it: models of pydantic are their fields."""
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
