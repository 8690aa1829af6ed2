"""Waits for what the weave client sends in the background."""

import time
from collections.abc import Callable

from weave.trace.weave_client import WeaveClient

WAIT_SECONDS = 300


def wait_for(client: WeaveClient, done: Callable[[], bool]) -> None:
    """On a busy machine `flush` returns before the client has sent what its own background tasks still add."""
    until = time.monotonic() + WAIT_SECONDS
    client.flush()
    while not done():
        if time.monotonic() > until:
            raise TimeoutError(f"not stored after {WAIT_SECONDS} s")
        time.sleep(0.1)
        client.flush()
