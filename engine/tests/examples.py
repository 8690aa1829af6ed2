"""What the tests share: the committed model, configs with defaults, trajectories written by hand or sampled."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file  # pyright: ignore[reportUnknownVariableType]

from engine.contract import LoraSpec, RlConfig
from engine.trainer.chat import Sequence, encode

Json = dict[str, Any]
LOOM_TINY = Path(__file__).parents[1] / "models" / "loom-tiny"
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def lora(seed: int = 3407) -> LoraSpec:
    return LoraSpec(rank=8, alpha=16, target_modules=TARGETS, seed=seed)


def disturb(adapter: Path, seed: int, deviation: float) -> None:
    """Makes a zero adapter one that changes the answers."""
    file = adapter / "adapter_model.safetensors"
    weights = load_file(file)
    generator = torch.Generator().manual_seed(seed)
    for name, tensor in weights.items():
        if "lora_B" in name:
            tensor.copy_(deviation * torch.randn(tensor.shape, generator=generator))
    save_file(weights, file)


def rl_config(**changes: Any) -> RlConfig:
    defaults: Json = {
        "learning_rate": 1e-3,
        "advantage_balance": 0.0,
        "scale_rewards": True,
        "ppo": False,
        "epsilon": None,
        "epsilon_high": None,
        "importance_sampling_level": "token",
        "max_negative_advantage_importance_sampling_weight": None,
        "mask_prob_ratio": False,
        "kimi_k2_tau": None,
        "precalculate_logprobs": False,
        "normalize_advantages": True,
        "truncated_importance_sampling": None,
        "kl_penalty_coef": None,
        "kl_penalty_source": "current_learner",
        "num_trajectories_learning_rate_multiplier_power": 0.0,
        "allow_training_without_logprobs": False,
        "require_sampled_context": False,
        "packed_sequence_length": None,
        "gradient_steps": None,
        "seed": 0,
    }
    return RlConfig.model_validate(defaults | changes)


def choice(ids: list[int], logprob: float | None = -0.5, **message: Any) -> Json:
    """One sampled turn as a chat completion returns it, with token ids in the logprobs."""
    items: list[Json] = [{"token": f"token_id:{i}", "bytes": [], "logprob": logprob, "top_logprobs": []} for i in ids]
    return {
        "finish_reason": "stop",
        "index": 0,
        "logprobs": {"content": items, "refusal": None},
        "message": {"role": "assistant", "content": "", "refusal": None, "tool_calls": None, **message},
        "stop_reason": None,
    }


def trajectory(elements: list[Json], reward: float, **more: Any) -> Json:
    return {
        "messages_and_choices": elements,
        "tools": None,
        "additional_histories": [],
        "reward": reward,
        "initial_policy_version": None,
        "final_policy_version": None,
        "metrics": {"ok": True},
        "metadata": {"scenario": "s1"},
        "logs": [],
        **more,
    }


def group(trajectories: list[Json]) -> Json:
    return {"trajectories": trajectories, "exceptions": [], "metadata": {}, "metrics": {}, "logs": ["a log"]}


def user(content: str) -> Json:
    return {"role": "user", "content": content}


def write_lines(path: Path, values: list[Json]) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return path


def sums(tokenizer: Any, count: int, logprob: float | None = -1.0) -> list[Json]:
    """Groups of four attempts at a sum, of which one is right."""
    groups: list[Json] = []
    for x in range(count):
        answers = [f"{2 * x}", f"It is {x}", "The answer is 7.", "no"]
        ids = [encode(tokenizer, answer + "<|im_end|>") for answer in answers]
        turns = [[user(f"What is {x} + {x}?"), choice(turn, logprob)] for turn in ids]
        groups.append(group([trajectory(turn, float(i == 0)) for i, turn in enumerate(turns)]))
    return groups


def stretches_of(tokenizer: Any, sequence: Sequence) -> list[str]:
    """The texts of the runs of tokens that are trained on."""
    stretches: list[list[int]] = []
    for before, token, sampled in zip([False, *sequence.sampled], sequence.tokens, sequence.sampled, strict=False):
        if sampled and not before:
            stretches.append([])
        if sampled:
            stretches[-1].append(token)
    return [tokenizer.decode(stretch) for stretch in stretches]
