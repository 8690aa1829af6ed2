"""Lets a vLLM that no server supervises sleep while nothing is asked of it, as middleware of vLLM's HTTP server.

Several servers and other clients may use one vLLM, and none of them knows whether the others do. So vLLM itself looks
for how long no request came, and wakes for the next one, which waits. While it sleeps, its weights are in the memory
of the machine and the GPU is free for others (sleeping.py). vLLM imports this class by its name: see serve.py.
"""

import asyncio
import logging
import os
import signal
import time
from typing import Any

from engine.inference.sleeping import LEVEL_VARIABLE, App, Scope, answer_empty, has_key

IDLE_VARIABLE = "HEDDLE_SLEEP_AFTER_S"  # of vLLM: seconds without a request

# On requests that only find out whether it computes (src/stores/compute/vllm-connection.ts).
PROBE_HEADER = b"x-heddle-probe"

LOOK_S = 1.0  # from one look at how long nothing was asked to the next, at most

log = logging.getLogger(__name__)


class SleepWhenIdle:
    """POST requests and web sockets are work. All others pass on, asleep or awake, and so does what lacks the key."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.level = int(os.environ.get(LEVEL_VARIABLE, "1"))
        self.after_s = float(os.environ[IDLE_VARIABLE])
        self.running = 0  # requests that are being answered
        self.used_at = time.monotonic()
        self.asleep = False
        self.turn = asyncio.Lock()  # held while it falls asleep or wakes
        self.watcher: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if self.watcher is None:
            self.watcher = asyncio.create_task(self.watch(scope["app"]))
        is_work = scope["type"] == "websocket" or (scope["type"] == "http" and scope["method"] == "POST")
        if not is_work or not has_key(scope):
            await self.app(scope, receive, send)
        elif any(name == PROBE_HEADER for name, _ in scope["headers"]):
            await self.probe(scope, receive, send)
        else:
            await self.work(scope, receive, send)

    async def probe(self, scope: Scope, receive: Any, send: Any) -> None:
        async with self.turn:
            if self.asleep:
                await answer_empty(send, 200)
                return
            self.running += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.running -= 1

    async def work(self, scope: Scope, receive: Any, send: Any) -> None:
        self.running += 1
        try:
            async with self.turn:
                if self.asleep:
                    await self.wake(scope["app"].state.engine_client)
            await self.app(scope, receive, send)
        finally:
            self.running -= 1
            self.used_at = time.monotonic()

    async def watch(self, server: Any) -> None:
        while True:
            await asyncio.sleep(min(self.after_s, LOOK_S))
            async with self.turn:
                idle_s = time.monotonic() - self.used_at
                if not self.asleep and self.running == 0 and idle_s >= self.after_s:
                    await self.sleep(server.state.engine_client)

    async def sleep(self, engine: Any) -> None:
        try:
            await engine.sleep(self.level, "wait")
        except Exception:
            # It no longer schedules requests by then, and some of its memory may be gone.
            log.exception("vLLM did not fall asleep, and ends")
            end()
            return
        self.asleep = True
        log.warning("vLLM sleeps after %g s without a request", self.after_s)

    async def wake(self, engine: Any) -> None:
        try:
            woken = await engine.wake_up(None)
        except Exception:
            log.exception("vLLM did not wake")
            woken = False
        if not woken:
            end()
            raise RuntimeError("vLLM did not wake, and ends")
        self.asleep = False
        log.warning("vLLM is awake")


def end() -> None:
    """End vLLM, which would answer nothing any more. What started it may start it again, when memory is free."""
    os.kill(os.getpid(), signal.SIGTERM)
