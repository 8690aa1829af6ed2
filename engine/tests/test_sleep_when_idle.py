"""vLLM that sleeps by itself while nothing is asked of it. On a CPU nothing is freed: level 0 only pauses."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest
from serving import MODEL, OTHER_PORT, request, vllm

from engine.inference.sleep_when_idle import IDLE_VARIABLE, SleepWhenIdle
from engine.inference.sleeping import Scope

AFTER_S = 0.05
PROMPT = {"model": MODEL, "prompt": "a", "max_tokens": 1}


class Engine:
    """What the middleware calls of vLLM's engine."""

    def __init__(self, *, wakes: bool = True, falls_asleep: bool = True) -> None:
        self.wakes = wakes
        self.falls_asleep = falls_asleep
        self.calls: list[str] = []

    async def sleep(self, level: int, mode: str) -> None:
        assert (level, mode) == (1, "wait")
        await asyncio.sleep(0.01)
        if not self.falls_asleep:
            raise RuntimeError("no memory")
        self.calls.append("sleep")

    async def wake_up(self, tags: None) -> bool:
        await asyncio.sleep(0.01)
        self.calls.append("wake")
        return self.wakes


class Client:
    """Asks a server of whose requests the engine keeps the order."""

    def __init__(self, engine: Engine, work_s: float = 0) -> None:
        self.engine = engine
        self.work_s = work_s
        self.middleware = SleepWhenIdle(self.answer)

    async def answer(self, scope: Scope, receive: Any, send: Any) -> None:
        await asyncio.sleep(self.work_s)
        self.engine.calls.append(scope["path"])
        await send({"type": "http.response.start", "status": 200})

    async def ask(self, path: str = "/work", method: str = "POST", **headers: str) -> int:
        pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        app = SimpleNamespace(state=SimpleNamespace(engine_client=self.engine))
        scope = {"type": "http", "method": method, "path": path, "headers": pairs, "app": app}
        statuses: list[int] = []

        async def send(message: Any) -> None:
            statuses.append(message.get("status", 0))

        await self.middleware(scope, None, send)
        return statuses[0]

    async def until_asleep(self) -> None:
        while not self.middleware.asleep:
            await asyncio.sleep(0.01)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Awaitable[None]]], None]:
    monkeypatch.setenv(IDLE_VARIABLE, str(AFTER_S))

    async def within(steps: Callable[[], Awaitable[None]]) -> None:
        await asyncio.wait_for(steps(), 30)

    return lambda steps: asyncio.run(within(steps))


Run = Callable[[Callable[[], Awaitable[None]]], None]


def test_sleeps_after_a_time_without_requests_and_wakes_for_the_next(run: Run) -> None:
    async def steps() -> None:
        engine = Engine()
        client = Client(engine)
        for _ in range(2):
            await client.ask()
            await client.until_asleep()
        await asyncio.gather(*(client.ask() for _ in range(3)))
        assert engine.calls == ["/work", "sleep", "wake", "/work", "sleep", "wake", *["/work"] * 3]

    run(steps)


def test_does_not_sleep_while_a_request_is_answered(run: Run) -> None:
    async def steps() -> None:
        engine = Engine()
        client = Client(engine, work_s=5 * AFTER_S)
        await asyncio.gather(client.ask("/long"), client.ask("/longer"))
        assert engine.calls == ["/long", "/longer"]

    run(steps)


def test_probes_and_questions_about_the_server_neither_wake_it_nor_keep_it_awake(run: Run) -> None:
    async def steps() -> None:
        engine = Engine()
        client = Client(engine)
        while not client.middleware.asleep:
            assert await client.ask("/probe", x_heddle_probe="1") == 200
            await asyncio.sleep(AFTER_S / 5)
        engine.calls.clear()
        assert await client.ask("/probe", x_heddle_probe="1") == 200
        assert await client.ask("/health", "GET") == 200
        assert engine.calls == ["/health"]

    run(steps)


def test_requests_without_the_key_do_not_wake_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_API_KEY", "key")

    async def steps() -> None:
        engine = Engine()
        client = Client(engine)
        await client.ask(authorization="bearer key")
        await client.until_asleep()
        engine.calls.clear()
        await client.ask()
        await client.ask(authorization="Bearer other")
        assert engine.calls == ["/work", "/work"]  # which vLLM refuses

    run(steps)


def test_a_probe_is_answered_before_it_sleeps(run: Run) -> None:
    async def steps() -> None:
        engine = Engine()
        client = Client(engine, work_s=5 * AFTER_S)
        await client.ask("/probe", x_heddle_probe="1")
        assert engine.calls == ["/probe"]
        await client.until_asleep()

    run(steps)


@pytest.mark.parametrize("engine", [Engine(falls_asleep=False), Engine(wakes=False)], ids=["sleep", "wake"])
def test_ends_where_it_cannot(run: Run, monkeypatch: pytest.MonkeyPatch, engine: Engine) -> None:
    ended: list[int] = []

    def kill(_pid: int, number: int) -> None:
        ended.append(number)

    monkeypatch.setattr("os.kill", kill)

    async def steps() -> None:
        client = Client(engine)
        await client.ask()
        if engine.falls_asleep:
            await client.until_asleep()
            with pytest.raises(RuntimeError, match="did not wake"):
                await client.ask()
        while not ended:
            await asyncio.sleep(0.01)

    run(steps)


@pytest.mark.slow
def test_vllm_sleeps_and_wakes() -> None:
    with vllm(OTHER_PORT, "--sleep-level", "0", "--sleep-after", "1", end="end of stdin"):
        for _ in range(2):
            assert request("POST", "/v1/completions", PROMPT, OTHER_PORT)[0] == 200
            while request("POST", "/v1/completions", PROMPT, OTHER_PORT, probe=True) != (200, b"{}"):
                time.sleep(0.2)
            assert request("GET", "/v1/models", port=OTHER_PORT)[0] == 200
