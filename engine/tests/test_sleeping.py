"""vLLM that is put to sleep over HTTP. On a CPU nothing is freed: level 0 only pauses, over the same paths."""

from collections.abc import Generator

import pytest
from serving import MODEL, OTHER_PORT, request, vllm

pytestmark = pytest.mark.slow
KEY = "test-key"
PROMPT = {"model": MODEL, "prompt": "a", "max_tokens": 1}


@pytest.fixture(scope="module")
def sleeper() -> Generator[None]:
    with vllm(OTHER_PORT, "--sleep-level", "0", end="SIGTERM", VLLM_API_KEY=KEY):
        yield


def ask(path: str, key: str = KEY, method: str = "POST", timeout: float = 120) -> int:
    body = PROMPT if path == "/v1/completions" else None
    return request(method, path, body, OTHER_PORT, key, timeout)[0]


def test_only_the_server_with_the_key_may(sleeper: None) -> None:
    for path in ("/heddle/sleep", "/heddle/wake"):
        assert ask(path, "") == 401
        assert ask(path, "other") == 401
        assert ask(path, method="GET") == 405
    assert ask("/v1/completions") == 200


def test_answers_wait_until_it_wakes(sleeper: None) -> None:
    for _ in range(2):
        assert ask("/heddle/sleep") == 200
        with pytest.raises(TimeoutError):
            ask("/v1/completions", timeout=2)
        assert ask("/heddle/wake") == 200
        assert ask("/v1/completions") == 200


def test_the_paths_are_vllms_own_where_it_was_not_started_to_sleep(server: None) -> None:
    assert request("POST", "/heddle/sleep")[0] == 404
