"""Refuses requests with tokens of which the model has no embedding.

A tokenizer may have more tokens than the model has embeddings. vLLM takes every token that one of both has, and such a
one in a prompt ends the whole engine with all answers in it; on a GPU, one in `bad_words` changes the logits of another
request. vLLM finds this as a plugin, by the entry point in `heddle_engine-0.1.0.dist-info`.
"""

from itertools import chain
from typing import Any


def register() -> None:
    """May be called more than once."""
    from vllm.v1.engine.input_processor import InputProcessor

    process = InputProcessor.process_inputs
    if process.__module__ == __name__:
        return

    def process_inputs(processor: Any, *arguments: Any, **named: Any) -> Any:
        request = process(processor, *arguments, **named)
        check(request, processor.model_config.get_vocab_size())
        return request

    setattr(InputProcessor, process.__name__, process_inputs)


def check(request: Any, num_embeddings: int) -> None:
    """Raises VLLMValidationError, which is 400."""
    from vllm.exceptions import VLLMValidationError

    bad_words: list[list[int]] = getattr(request.sampling_params, "bad_words_token_ids", None) or []
    for parameter, tokens in (("prompt", prompt_of(request, num_embeddings)), ("bad_words", chain(*bad_words))):
        largest = max(tokens, default=0)
        if largest >= num_embeddings:
            raise VLLMValidationError(
                f"Token id {largest} is out of vocabulary: the model has {num_embeddings} embeddings",
                parameter=parameter,
            )


def prompt_of(request: Any, num_embeddings: int) -> list[int]:
    """Its tokens without the places of media, which some models mark with tokens beyond their embeddings."""
    prompt: list[int] = request.prompt_token_ids or []
    if max(prompt, default=0) < num_embeddings:
        return prompt
    features: list[Any] = request.mm_features or []
    places = [feature.mm_position for feature in features]
    of_media = {index for place in places for index in range(place.offset, place.offset + place.length)}
    return [token for index, token in enumerate(prompt) if index not in of_media]
