"""vLLM as engine.serve starts it. A batch that mixes adapters must answer every row as if it were alone."""

import json
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import torch
from examples import Json, choice, disturb, group, lora, rl_config, trajectory, user
from safetensors.torch import load_file, save_file  # pyright: ignore[reportUnknownVariableType]
from serving import MODEL, chat, request

from engine.trainer import policy
from engine.trainer.data import Dataset, add_group
from engine.trainer.model import BaseModel, adapter, create_adapter
from engine.trainer.packing import to_row

pytestmark = pytest.mark.slow
PROMPTS = [f"What is {x} + {y}?" for x in range(2, 50, 4) for y in (3, 31)]
NUMBER = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
CONSTRAINTS: list[Json] = [
    {},
    {"structured_outputs": {"choice": ["four", "seven", "many"]}},
    {},
    {"structured_outputs": {"json": NUMBER}},
]


@pytest.fixture(scope="module")
def adapters(server: None, base: BaseModel, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The zero adapter, and two that change the answers."""
    folders: dict[str, Path] = {}
    for seed, name in enumerate(("zero", "a", "b")):
        folders[name] = tmp_path_factory.mktemp("adapters") / name
        create_adapter(base, lora(seed), folders[name])
        if name != "zero":
            disturb(folders[name], seed, 0.05)
        body = {"lora_name": name, "lora_path": str(folders[name])}
        assert request("POST", "/v1/load_lora_adapter", body)[0] == 200
    return folders


def test_an_adapter_for_layers_that_the_model_does_not_have_is_refused(
    server: None, base: BaseModel, tmp_path: Path
) -> None:
    folder = tmp_path / "other"
    create_adapter(base, lora(), folder)
    file = folder / "adapter_model.safetensors"
    save_file({name.replace(".layers.0.", ".layers.90."): weight for name, weight in load_file(file).items()}, file)
    status, reply = request("POST", "/v1/load_lora_adapter", {"lora_name": "other", "lora_path": str(folder)})
    assert status >= 400
    assert "vLLM's model has no layer model.layers.90." in reply.decode()


def answer(model: str, prompt: str, options: Json | None = None) -> tuple[list[int], list[float]]:
    """Greedy token ids and their logprobs."""
    fixed = {"temperature": 0, "max_tokens": 12, "logprobs": True, "return_tokens_as_token_ids": True}
    status, reply = chat(model=model, messages=[user(prompt)], **fixed, **(options or {}))
    assert status == 200, reply
    items = reply["choices"][0]["logprobs"]["content"]
    return [int(item["token"].removeprefix("token_id:")) for item in items], [item["logprob"] for item in items]


def answers(work: list[tuple[str, int]], at_once: int) -> list[tuple[list[int], list[float]]]:
    """Of models to prompts, by their numbers."""

    def answer_one(one: tuple[str, int]) -> tuple[list[int], list[float]]:
        model, number = one
        return answer(model, PROMPTS[number], CONSTRAINTS[number % 4])

    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(answer_one, work))


@pytest.mark.parametrize("at_once", [16, 64, 96])
def test_a_mixed_batch_answers_like_each_alone(adapters: dict[str, Path], at_once: int) -> None:
    models, numbers = (MODEL, *adapters), range(len(PROMPTS))
    alone: dict[tuple[str, int], tuple[list[int], list[float]]] = {}
    for model in models:
        same = [(model, number) for number in numbers]
        alone |= dict(zip(same, answers(same, 16), strict=True))
    different = {model: [alone[model, number][0] for number in numbers] for model in models}
    assert different["zero"] == different[MODEL] != different["a"] != different["b"] != different[MODEL]
    mixed = [(model, number) for number in numbers for model in models]
    for _ in range(3):
        for one, (ids, logprobs) in zip(mixed, answers(mixed, at_once), strict=True):
            assert ids == alone[one][0], one
            assert logprobs == pytest.approx(alone[one][1], abs=1e-4), one


def test_the_prefix_cache_keeps_models_apart(adapters: dict[str, Path]) -> None:
    """The prompt is longer than a block of the cache, and each model is asked twice."""
    prompt = " ".join(PROMPTS * 2)
    fresh = {model: answer(model, prompt, {"cache_salt": "fresh"}) for model in (MODEL, *adapters)}
    sums = [sum(fresh[model][1]) for model in (MODEL, "a", "b")]
    assert min(abs(x - y) for x, y in combinations(sums, 2)) > 0.01
    for model in (*fresh, *fresh):
        ids, logprobs = answer(model, prompt)
        assert ids == fresh[model][0], model
        assert logprobs == pytest.approx(fresh[model][1], abs=1e-4), model
    _, reply = chat(model=MODEL, messages=[user(prompt)], max_tokens=1)
    assert reply["usage"]["prompt_tokens_details"]["cached_tokens"] > 0


def test_answers_to_one_prompt_are_those_of_each_alone(adapters: dict[str, Path]) -> None:
    """Prompts shorter than a block of the cache, of one and of more, and answers of some blocks; many at once, of which
    some end early."""
    words = [f"token_{number}" for number in range(40)]
    work = [(model, " ".join(words[:length])) for model in (MODEL, "a", "b") for length in (1, 2, 3, 5, 8, 13, 21)]

    def sampled(model: str, prompt: str, n: int, tokens: int, **more: Any) -> list[list[tuple[str, float]]]:
        """With the likeliest token each time, which is the only one that more than one answer may be asked for."""
        fixed = {"temperature": 1, "top_k": 1, "logprobs": True, "return_tokens_as_token_ids": True, "ignore_eos": True}
        status, reply = chat(model=model, messages=[user(prompt)], n=n, max_tokens=tokens, **fixed, **more)
        assert status == 200, reply
        if n > 1 and not more:
            shared.append(reply["usage"]["prompt_tokens_details"]["cached_tokens"] % 32)
        answers = [found["logprobs"]["content"] for found in reply["choices"]]
        return [[(item["token"], item["logprob"]) for item in items] for items in answers]

    shared: list[int] = []
    alone = {one: sampled(*one, 1, 70, cache_salt="alone")[0] for one in work}
    asked = [(one, n, tokens) for n, tokens in ((8, 70), (4, 1), (1, 40), (8, 2)) for one in work]
    with ThreadPoolExecutor(48) as pool:
        waiting = [pool.submit(sampled, *one, n, tokens) for one, n, tokens in asked]
        found = [one.result() for one in waiting]
    for (one, _, tokens), answers_of_one in zip(asked, found, strict=True):
        for answer_of_one in answers_of_one:
            assert [token for token, _ in answer_of_one] == [token for token, _ in alone[one][:tokens]], one
            expected = [logprob for _, logprob in alone[one][:tokens]]
            assert [logprob for _, logprob in answer_of_one] == pytest.approx(expected, abs=1e-4), one
    assert any(shared), "no prompt shared more than whole blocks"


@pytest.mark.parametrize("name", ["zero", "a", "b"])
def test_the_trainer_computes_the_logprobs_of_the_server(
    adapters: dict[str, Path], base: BaseModel, tokenizer: Any, name: str
) -> None:
    elements: list[list[Json]] = []
    for prompt in PROMPTS:
        ids, logprobs = answer(name, prompt)
        turn = choice(ids)
        for item, logprob in zip(turn["logprobs"]["content"], logprobs, strict=True):
            item["logprob"] = logprob
        elements.append([user(prompt), turn])
    attempts = [trajectory(turns, float(i % 2)) for i, turns in enumerate(elements)]
    dataset = Dataset()
    line = json.dumps(group(attempts)).encode()
    add_group(dataset, line, tokenizer, rl_config(), num_positions=2048, num_embeddings=len(tokenizer))
    row = to_row(dataset.sequences_by_group[0], torch.device("cpu"), share_prefixes=True)
    with adapter(base, adapters[name]) as model, torch.no_grad():
        logprobs_N = policy.logprobs(model, row)
    assert (logprobs_N - row.rollout_logprobs_N).abs().max().item() < 1e-4


def test_many_long_prompts_with_a_seed(adapters: dict[str, Path]) -> None:
    """More prompt tokens than fit one batch, each request with its own generator: the same seed, the same answer."""

    def sampled(number: int) -> str:
        messages = [user(f"Repeat: {number % 8} " + "apple " * 400)]
        status, reply = chat(model="zero", messages=messages, max_tokens=8, seed=number % 8, temperature=1)
        assert status == 200, reply
        return reply["choices"][0]["message"]["content"]

    with ThreadPoolExecutor(32) as pool:
        texts = list(pool.map(sampled, range(32)))
    assert texts[:8] == texts[8:16] == texts[16:24] == texts[24:]


def test_tools_and_several_answers(adapters: dict[str, Path]) -> None:
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    function = {"name": "get_weather", "description": "The weather in a city.", "parameters": parameters}
    tools = [{"type": "function", "function": function}]
    question = user("What is the weather in Paris?")
    status, reply = chat(model="zero", messages=[question], tools=tools, temperature=0)
    assert status == 200
    (call,) = reply["choices"][0]["message"]["tool_calls"]
    assert call["function"]["name"] == "get_weather"
    assert json.loads(call["function"]["arguments"]) == {"city": "Paris"}
    status, reply = chat(model="zero", messages=[user("Hello")], n=4, stop=[str(i) for i in range(64)])
    assert status == 200
    assert len(reply["choices"]) == 4
