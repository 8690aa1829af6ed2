"""A token that the tokenizer has and the model has no embedding of is the mistake of one request alone."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from examples import Json, user
from serving import MODEL, TOKEN_BEYOND, chat, request
from vllm.exceptions import VLLMValidationError

from engine.inference.known_tokens import check

NUM_EMBEDDINGS = 1536


@pytest.mark.slow
@pytest.mark.usefixtures("server")
@pytest.mark.parametrize(
    ("body", "parameter"),
    [
        ({"messages": [user(f"Hi {TOKEN_BEYOND}")]}, "prompt"),
        ({"messages": [user("Hi")], "bad_words": [f"a{TOKEN_BEYOND}"]}, "bad_words"),
        ({"messages": [user("Hi")], "allowed_token_ids": [NUM_EMBEDDINGS]}, "allowed_token_ids"),
        ({"messages": [user("Hi")], "logit_bias": {str(NUM_EMBEDDINGS): 1}}, "logit_bias"),
        ({"messages": [user("Hi")], "stop_token_ids": [NUM_EMBEDDINGS]}, "stop_token_ids"),
    ],
)
def test_a_token_without_an_embedding_is_refused(body: Json, parameter: str) -> None:
    status, reply = chat(max_tokens=1, **body)
    assert status == 400, reply
    assert "vocab" in reply["error"]["message"]
    assert reply["error"]["param"] == parameter
    assert chat(messages=[user("Hi")], max_tokens=1)[0] == 200


@pytest.mark.slow
@pytest.mark.usefixtures("server")
def test_a_stream_ends_with_the_refusal() -> None:
    """As vLLM answers all that it finds out after it has begun one."""
    body = {"model": MODEL, "messages": [user(f"Hi {TOKEN_BEYOND}")], "stream": True}
    status, reply = request("POST", "/v1/chat/completions", body)
    first, *rest = reply.decode().split("\n\n")
    assert (status, rest) == (200, ["data: [DONE]", ""])
    error = json.loads(first.removeprefix("data: "))["error"]
    assert (error["code"], error["param"]) == (400, "prompt")


@pytest.mark.slow
@pytest.mark.usefixtures("server")
def test_ids_of_a_text_completion_are_those_of_embeddings() -> None:
    body = {"model": MODEL, "max_tokens": 1}
    statuses = [
        request("POST", "/v1/completions", {**body, "prompt": [5, token]})[0]
        for token in (NUM_EMBEDDINGS - 1, NUM_EMBEDDINGS)
    ]
    assert statuses == [200, 400]


def test_places_of_media_have_tokens_of_their_own() -> None:
    def asked(tokens: list[int], offset: int) -> Any:
        place = SimpleNamespace(offset=offset, length=2)
        return SimpleNamespace(
            prompt_token_ids=tokens, mm_features=[SimpleNamespace(mm_position=place)], sampling_params=None
        )

    check(asked([1, 9, 9, 2], 1), 9)
    with pytest.raises(VLLMValidationError, match="Token id 9 is out of vocabulary: the model has 9 embeddings"):
        check(asked([1, 9, 9, 2], 2), 9)
