"""A gradient step is what PEFT, autograd and torch's AdamW make of the formula, without any of Heddle's parts.

Each conversation runs alone through the whole model: no packing, no padding, no shared prefixes, no graph that is cut.
"""

import json
import math
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
import torch
from examples import LOOM_TINY, Json, choice, group, trajectory, user, write_lines
from peft import PeftModel
from safetensors.torch import load_file, save_file  # pyright: ignore[reportUnknownVariableType]
from torch import Tensor
from transformers import AutoModelForCausalLM
from worker import Worker, steps

LEARNING_RATE = 1e-3
# Of a weight that moves by up to the learning rate in a step. AdamW divides the gradient by its own size, so rounding
# shows where a gradient is near zero: in few weights, which the mean does not see.
MEAN_MAX, WORST_MAX = 1e-7, 1e-4


def rollouts() -> list[Json]:
    """Two groups of three attempts, two turns each, with the ids that they were sampled with, far from the policy."""
    rng = Random(0)
    groups: list[Json] = []
    for number in range(2):
        question = [rng.randrange(3, 1500) for _ in range(20)]
        attempts: list[Json] = []
        for attempt in range(3):
            prompt, elements = list(question), list[Json]()
            for turn in range(2):
                ids = [rng.randrange(3, 1500) for _ in range(4 + attempt + turn)]
                element: Json = {**choice(ids), "prompt_token_ids": prompt}
                for item in element["logprobs"]["content"]:
                    item["logprob"] = -6 - 3 * rng.random()
                elements += [user("x"), element]
                prompt = [*prompt, *ids, *(rng.randrange(3, 1500) for _ in range(5))]
            attempts.append(trajectory(elements, float(attempt == number)))
        groups.append(group(attempts))
    return groups


def loaded(folder: Path) -> PeftModel:
    base = cast(Any, AutoModelForCausalLM.from_pretrained(LOOM_TINY, dtype=torch.float32))
    return PeftModel.from_pretrained(base, str(folder), is_trainable=True)


def logprobs_of(model: PeftModel, tokens: list[int]) -> Tensor:
    tokens_T = torch.tensor(tokens)
    all_logprobs_TV = cast(Any, model)(input_ids=tokens_T[None]).logits[0].log_softmax(-1)
    return all_logprobs_TV[:-1].gather(-1, tokens_T[1:, None]).squeeze(-1)


def cispo(model: PeftModel, groups: list[Json]) -> Tensor:
    """sum(-clip(rho, 0, 5) * A * log pi * w) / N over all sampled tokens; A and w as docs/rl-quirks.md says."""
    parts: list[tuple[Tensor, Tensor, float, float]] = []
    for one in groups:
        rewards = [attempt["reward"] for attempt in one["trajectories"]]
        mean = sum(rewards) / len(rewards)
        deviation = math.sqrt(sum((reward - mean) ** 2 for reward in rewards) / len(rewards)) + 1e-6
        for attempt in one["trajectories"]:
            last = attempt["messages_and_choices"][-1]
            sampled = [element for element in attempt["messages_and_choices"] if "finish_reason" in element]
            tokens = [*last["prompt_token_ids"], *ids_of(last)]
            logprobs_T = logprobs_of(model, tokens)
            turns: list[Tensor] = []
            theirs: list[float] = []
            for element in sampled:
                start = len(element["prompt_token_ids"]) - 1
                turns.append(logprobs_T[start : start + len(ids_of(element))])
                theirs += [item["logprob"] for item in element["logprobs"]["content"]]
            advantage = (attempt["reward"] - mean) / deviation
            parts.append((torch.cat(turns), torch.tensor(theirs), advantage, 1 / len(theirs)))
    num_tokens = sum(len(own) for own, *_ in parts)
    mean_weight = sum(weight * len(own) for own, _, _, weight in parts) / num_tokens
    size = sum(abs(advantage) * weight / mean_weight * len(own) for own, _, advantage, weight in parts) / num_tokens
    total = torch.zeros(())
    for own, rollout, advantage, weight in parts:
        ratio = (own.detach() - rollout).exp().clamp(0, 5)
        total = total - (ratio * (advantage / size) * own * (weight / mean_weight)).sum()
    return total / num_tokens


def ids_of(element: Json) -> list[int]:
    return [int(item["token"].removeprefix("token_id:")) for item in element["logprobs"]["content"]]


def stepped(model: PeftModel, loss: Tensor, weight_decay: float, norm_max: float) -> tuple[dict[str, Tensor], float]:
    """The adapter's weights after one step of torch's own optimizer, and the norm of the gradient before clipping."""
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=LEARNING_RATE, betas=(0.9, 0.99), weight_decay=weight_decay)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(parameters, norm_max).item()
    optimizer.step()
    named = {name.replace(".default", ""): value.detach() for name, value in model.named_parameters()}
    return {name: value for name, value in named.items() if "lora_" in name}, norm


def assert_same_weights(folder: Path, expected: dict[str, Tensor], before: Path) -> None:
    found = load_file(folder / "adapter_model.safetensors")
    start = load_file(before / "adapter_model.safetensors")
    assert found.keys() == expected.keys()
    gap = torch.cat([(found[name] - expected[name]).abs().flatten() for name in found])
    moved = torch.cat([(found[name] - start[name]).abs().flatten() for name in found])
    assert moved.max() > 0.5 * LEARNING_RATE
    assert gap.mean() < MEAN_MAX
    assert gap.max() < WORST_MAX


def disturbed(step_0: Path) -> Path:
    """An adapter that does something, so that A has a gradient too."""
    weights = load_file(step_0 / "adapter_model.safetensors")
    generator = torch.Generator().manual_seed(0)
    for name, weight in weights.items():
        weights[name] = weight + torch.randn(weight.shape, generator=generator) * 0.02
    save_file(weights, step_0 / "adapter_model.safetensors")
    return step_0


def test_a_step_of_rl(worker: Worker, step_0: Path, tmp_path: Path) -> None:
    source, groups = disturbed(step_0), rollouts()
    messages = worker.run_job(
        "a", source, tmp_path / "step-1", write_lines(tmp_path / "groups", groups), learning_rate=LEARNING_RATE
    )
    (metrics,) = steps(messages)
    model = loaded(source)
    loss = cispo(model, groups)
    assert metrics["loss"] == pytest.approx(loss.item(), rel=1e-4)
    weights, norm = stepped(model, loss, weight_decay=0.1, norm_max=0.1)
    assert metrics["grad_norm"] == pytest.approx(norm, rel=1e-4)
    assert norm > 0.1, "nothing is clipped"
    assert_same_weights(tmp_path / "step-1", weights, source)


def test_a_step_of_sft(worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path) -> None:
    source = disturbed(step_0)
    lines: list[Json] = [
        {"messages": [user(f"What is {x} + {x}?"), {"role": "assistant", "content": f"Twice {x}: {2 * x}."}]}
        for x in (3, 14)
    ]
    (tmp_path / "data").write_text("".join(json.dumps(line) + "\n" for line in lines))
    messages = worker.run_sft("s", source, tmp_path / "step-1", tmp_path / "data", learning_rate=LEARNING_RATE)
    (metrics,) = steps(messages)
    model = loaded(source)
    taught: list[Tensor] = []
    for line in lines:
        encoded = tokenizer.apply_chat_template(line["messages"], return_dict=True, return_assistant_tokens_mask=True)
        mask_T = torch.tensor(encoded["assistant_masks"][1:], dtype=torch.bool)
        taught.append(logprobs_of(model, encoded["input_ids"])[mask_T])
    loss = -torch.cat(taught).mean()
    assert metrics["loss"] == pytest.approx(loss.item(), rel=1e-4)
    weights, norm = stepped(model, loss, weight_decay=0.0, norm_max=1.0)
    assert metrics["grad_norm"] == pytest.approx(norm, rel=1e-4)
    assert_same_weights(tmp_path / "step-1", weights, source)
