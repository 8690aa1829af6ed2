"""Lets the server that started vLLM put it to sleep and wake it, as middleware of vLLM's HTTP server.

While it sleeps, its weights are in the memory of the machine and its cache of keys and values is dropped, so that
others can use the GPU. vLLM's own paths for this come with others that run any code (VLLM_SERVER_DEV_MODE), and ask for
no key. vLLM imports this class by its name: see serve.py.
"""

import hmac
import os
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]

SLEEP_PATH = "/heddle/sleep"
WAKE_PATH = "/heddle/wake"
KEY_VARIABLE = "VLLM_API_KEY"  # of vLLM
LEVEL_VARIABLE = "HEDDLE_SLEEP_LEVEL"  # of vLLM: 1 keeps the weights in the memory of the machine


class Sleeping:
    """Answers the two paths; passes everything else on."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.level = int(os.environ.get(LEVEL_VARIABLE, "1"))

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"] in (SLEEP_PATH, WAKE_PATH):
            await answer_empty(send, await self.change(scope))
        else:
            await self.app(scope, receive, send)

    async def change(self, scope: Scope) -> int:
        """Do what the path says; the status. What vLLM raises becomes its own reply."""
        if scope["method"] != "POST":
            return 405
        if not os.environ.get(KEY_VARIABLE) or not has_key(scope):
            return 401
        engine = scope["app"].state.engine_client
        if scope["path"] == WAKE_PATH:
            return 200 if await engine.wake_up(None) else 503
        # Requests that still run end first; the server sends none meanwhile.
        await engine.sleep(self.level, "wait")
        return 200


def has_key(scope: Scope) -> bool:
    """Whether a request has the key of vLLM; any has where there is none."""
    key = os.environ.get(KEY_VARIABLE, "")
    scheme, _, given = dict(scope["headers"]).get(b"authorization", b"").partition(b" ")
    return not key or (scheme.lower() == b"bearer" and hmac.compare_digest(given, key.encode()))


async def answer_empty(send: Any, status: int) -> None:
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"{}"})
