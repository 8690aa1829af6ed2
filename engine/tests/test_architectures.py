"""The trainer's log-probabilities are the model's own, whatever the architecture, or it is refused by name."""

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
import transformers
from peft import PeftModel
from safetensors.torch import load_file  # pyright: ignore[reportUnknownVariableType]
from tiny_models import ARCHITECTURES, SIZES, as_base, tiny_model
from transformers import AutoModelForCausalLM, PreTrainedModel

from engine.contract import LoraSpec
from engine.trainer import architecture
from engine.trainer.chat import Sequence
from engine.trainer.errors import InputProblem, Problem
from engine.trainer.layers import Keep
from engine.trainer.model import BaseModel, adapter, create_adapter, load_base
from engine.trainer.packing import Row, to_row
from engine.trainer.policy import predict
from engine.trainer.sft import gradient_step
from engine.trainer.state import trainable

CPU = torch.device("cpu")
DENSE = ["down_proj", "gate_proj", "k_proj", "o_proj", "q_proj", "up_proj", "v_proj"]
ATTENTION = ["k_proj", "o_proj", "q_proj", "v_proj"]
OTHERS = {
    "phi": ["dense", "fc1", "fc2", "k_proj", "q_proj", "v_proj"],
    "phi3": ["down_proj", "gate_up_proj", "o_proj", "qkv_proj"],
    "phi3_window": ["down_proj", "gate_up_proj", "o_proj", "qkv_proj"],
    "qwen3_moe": ATTENTION,
    "gpt_oss": ATTENTION,
}


def targets_of(name: str) -> list[str]:
    return OTHERS.get(name, DENSE)


def adapter_of(base: BaseModel, targets: list[str], directory: Path) -> Path:
    create_adapter(base, LoraSpec(rank=4, alpha=8, target_modules=targets, seed=1), directory)
    return directory


def loaded(name: str, directory: Path) -> BaseModel:
    """As the trainer loads it: from files, with what that sets and checks."""
    model = tiny_model(name)
    as_base(model).tokenizer.save_pretrained(directory)
    model.save_pretrained(directory)
    return load_base(str(directory), "tiny")


def conversations() -> list[Sequence]:
    """Two that begin alike and one that does not, longer than any window; each with trained tokens in its middle."""
    rng = Random(0)
    prompt = [rng.randrange(3, 1500) for _ in range(30)]
    made: list[Sequence] = []
    for start, length in ((prompt, 12), (prompt, 20), ([7], 40)):
        tokens = [*start, *(rng.randrange(3, 1500) for _ in range(length))]
        sampled = [index >= len(start) + 2 and index % 7 != 0 for index in range(len(tokens))]
        made.append(Sequence(tokens, sampled, [-1.0] * len(tokens), advantage=1.0, weight=1.0))
    return made


def disturbed(model: PeftModel) -> PeftModel:
    generator = torch.Generator().manual_seed(0)
    for parameter in trainable(model).values():
        parameter.data.add_(torch.randn(parameter.shape, generator=generator) * 0.05)
    return model


def own_logprobs(model: PreTrainedModel, row: Row) -> torch.Tensor:
    """By the model's whole forward, one sequence at a time."""
    found: list[torch.Tensor] = []
    for sequence in row.sequences:
        tokens_T = torch.tensor(sequence.tokens)
        all_logprobs_TV = cast(Any, model)(input_ids=tokens_T[None]).logits[0].log_softmax(-1)
        logprobs_T = all_logprobs_TV[:-1].gather(-1, tokens_T[1:, None]).squeeze(-1)
        found.append(logprobs_T[torch.tensor(sequence.sampled[1:])])
    return torch.cat(found)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_logprobs_and_gradients_are_the_models_own(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kept as a whole, and as for large models: layers that run twice, and the logits of a few tokens at a time."""
    base = loaded(name, tmp_path / "base")
    with adapter(base, adapter_of(base, targets_of(name), tmp_path / "zero")) as model:
        disturbed(model)
        row = to_row(conversations(), CPU, share_prefixes=base.shares_prefixes)
        assert any(batch.prefix for batch in row.batches) == base.shares_prefixes
        whole = own_logprobs(cast(PreTrainedModel, model.get_base_model()), row)
        whole.mean().backward()
        trained = trainable(model)
        assert len(trained) >= 2 * len(targets_of(name))
        expected = {key: cast(torch.Tensor, parameter.grad).clone() for key, parameter in trained.items()}
        ways: list[tuple[Keep, int]] = [("all", 2**26), ("inputs", 1536 * 5)]
        for keep, logits_max in ways:
            monkeypatch.setattr("engine.trainer.policy.LOGITS_MAX", logits_max)
            model.zero_grad()
            for batch, part in zip(row.batches, row.parts, strict=True):
                logprobs_M, _ = predict(model, batch, keep)
                assert (logprobs_M - whole[part]).abs().max() < 1e-4
                (logprobs_M.sum() / len(whole)).backward()
            for key, parameter in trained.items():
                found = cast(torch.Tensor, parameter.grad)
                assert found.abs().max() > 0, key
                assert (found - expected[key]).norm() <= 1e-3 * expected[key].norm(), key


def no_update(*_: object) -> float:
    return 0.0


@pytest.mark.parametrize("name", ["gemma2", "granite", "cohere"])
def test_sft_has_the_models_own_head(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = loaded(name, tmp_path / "base")
    sequences = conversations()

    def tokenize_line(*_: object) -> list[Sequence]:
        return sequences

    monkeypatch.setattr("engine.trainer.sft.tokenize_line", tokenize_line)
    run = cast(Any, SimpleNamespace(base=base, optimizer=torch.optim.SGD([torch.zeros(1)]), update=no_update))
    with adapter(base, adapter_of(base, DENSE, tmp_path / "zero")) as model:
        run.model = disturbed(model)
        loss = gradient_step(run, base, [("line 1", [])], 0.0, "all", lambda: None)["loss"]
        row = to_row(sequences, CPU, share_prefixes=False)
        with torch.no_grad():
            expected = -own_logprobs(cast(PreTrainedModel, model.get_base_model()), row).mean().item()
    assert loss == pytest.approx(expected, abs=1e-4)


def test_sft_runs_what_the_turns_of_a_chat_begin_with_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same loss and gradients as of whole sequences."""
    base = loaded("llama", tmp_path / "base")

    def tokenize_line(*_: object) -> list[Sequence]:
        return conversations()

    monkeypatch.setattr("engine.trainer.sft.tokenize_line", tokenize_line)
    found: list[tuple[Row, float, dict[str, torch.Tensor]]] = []
    with adapter(base, adapter_of(base, DENSE, tmp_path / "zero")) as model:
        disturbed(model)
        for shares in (True, False):
            rows: list[Row] = []

            def update(row: Row, *_: object, rows: list[Row] = rows) -> float:
                rows.append(row)
                return 0.0

            optimizer = torch.optim.SGD(trainable(model).values())
            sharing = replace(base, shares_prefixes=shares)
            run = cast(Any, SimpleNamespace(base=sharing, optimizer=optimizer, update=update, model=model))
            loss = gradient_step(run, sharing, [("line 1", [])] * 2, 0.0, "all", lambda: None)["loss"]
            gradients = {key: cast(torch.Tensor, weight.grad).clone() for key, weight in trainable(model).items()}
            found.append((rows[0], loss, gradients))
    (shared, loss, gradients), (whole, expected_loss, expected) = found
    assert any(batch.prefix for batch in shared.batches)
    assert not any(batch.prefix for batch in whole.batches)
    assert loss == pytest.approx(expected_loss, abs=1e-4)
    for key, gradient in gradients.items():
        assert (gradient - expected[key]).norm() <= 1e-3 * expected[key].norm(), key


@pytest.mark.parametrize(
    "name", ["gemma2", "gemma3", "gemma3_that_sees", "cohere2", "phi3_window", "mistral_window", "olmo3", "gpt_oss"]
)
def test_windows_share_no_prefixes(name: str) -> None:
    assert not architecture.shares_prefixes(tiny_model(name))


def test_a_soft_cap_inside_attention_is_not_left_out(tmp_path: Path) -> None:
    assert cast(Any, loaded("gemma2", tmp_path / "base").model.config)._attn_implementation == "eager"


@pytest.mark.parametrize(
    ("name", "missing", "instead"),
    [
        ("phi3", "gate_proj, k_proj, q_proj, up_proj, v_proj", "down_proj, gate_up_proj, o_proj, qkv_proj"),
        ("qwen3_moe", "down_proj, gate_proj, up_proj", "k_proj, o_proj, q_proj, v_proj"),
        ("gpt_oss", "down_proj, gate_proj, up_proj", "k_proj, o_proj, q_proj, v_proj"),
        ("phi", "down_proj, gate_proj, o_proj, up_proj", "dense, fc1, fc2, k_proj, q_proj, v_proj"),
    ],
)
def test_targets_that_an_architecture_does_not_have(name: str, missing: str, instead: str, tmp_path: Path) -> None:
    model = tiny_model(name)
    with pytest.raises(InputProblem) as refused:
        adapter_of(as_base(model), DENSE, tmp_path / "none")
    assert refused.value.place == "lora.target_modules"
    assert refused.value.text == (
        f"models of the architecture {type(model).__name__} have no linear layers {missing} that take an adapter: "
        f"register the model with lora.target_modules of their own, such as {instead}"
    )
    assert not (tmp_path / "none").exists()


def test_a_model_that_sees_images_has_its_adapter_in_the_language_model_alone(tmp_path: Path) -> None:
    """vLLM has no LoRA for the rest, and does not load an adapter that has some there."""
    base = as_base(tiny_model("gemma3_that_sees"))
    weights = load_file(adapter_of(base, DENSE, tmp_path / "zero") / "adapter_model.safetensors")
    layers = {name.removeprefix("base_model.model.").partition(".lora_")[0] for name in weights}
    assert len(layers) == len(DENSE) * SIZES["num_hidden_layers"]
    assert all(name.startswith("model.language_model.layers.") for name in layers)
    described = json.loads((tmp_path / "zero" / "adapter_config.json").read_text())
    assert described["target_modules"] == sorted(layers)
    with adapter(base, tmp_path / "zero") as model:
        assert len(trainable(model)) == len(weights)
    with pytest.raises(InputProblem, match="no linear layers fc1, out_proj"):
        adapter_of(base, ["fc1", "out_proj", "q_proj"], tmp_path / "none")


def test_an_adapter_names_its_targets_as_they_were_given(tmp_path: Path) -> None:
    made = adapter_of(as_base(tiny_model("llama")), ["v_proj", "self_attn.q_proj"], tmp_path / "zero")
    described = json.loads((made / "adapter_config.json").read_text())
    assert described["target_modules"] == ["self_attn.q_proj", "v_proj"]


@pytest.mark.parametrize("name", ["llama", "qwen2"])
def test_the_head_is_no_target(name: str, tmp_path: Path) -> None:
    """vLLM does not load an adapter that has one for Qwen2's."""
    with pytest.raises(InputProblem, match=r"no linear layers lm_head that take an adapter: .* such as down_proj"):
        adapter_of(as_base(tiny_model(name)), ["q_proj", "lm_head"], tmp_path / "none")


def test_an_architecture_that_is_not_reproduced_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_model("granite")
    architecture.check(model)

    def head(model: Any, hidden_MD: torch.Tensor) -> torch.Tensor:
        return model.lm_head(hidden_MD)

    monkeypatch.setattr(architecture, "head", head)
    with pytest.raises(Problem, match="architecture GraniteForCausalLM cannot be trained: the trainer's log-prob"):
        architecture.check(model)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_window_that_is_not_known_is_noticed(
    dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Sequences then run whole, whatever rounding makes of their log-probabilities."""
    model = tiny_model("mistral_window").to(dtype)  # pyright: ignore[reportArgumentType]
    cast(Any, model.config).sliding_window = 4
    architecture.check(model)

    def remembers(_: object) -> bool:
        return True

    monkeypatch.setattr(architecture, "remembers", remembers)
    assert not architecture.shares_prefixes(model)
    assert (
        "MistralForCausalLM: every sequence runs whole, not after a shared prefix: log-prob" in capfd.readouterr().err
    )


@pytest.mark.parametrize("name", ["llama", "qwen2", "qwen3", "qwen3_moe", "gemma", "granite", "cohere", "phi", "olmo2"])
def test_rounding_does_not_end_the_sharing_of_prefixes(name: str) -> None:
    assert architecture.shares_prefixes(tiny_model(name).to(torch.bfloat16))  # pyright: ignore[reportArgumentType]


def test_a_model_that_does_not_say_how_long_sequences_are_is_refused() -> None:
    config = transformers.BloomConfig(vocab_size=1536, hidden_size=32, n_layer=2, n_head=4)
    with pytest.raises(
        Problem, match=r"BloomForCausalLM cannot be trained: its config.json .* max_position_embeddings"
    ):
        architecture.check(cast(Any, AutoModelForCausalLM).from_config(config))


def test_an_architecture_without_a_body_is_refused() -> None:
    model = tiny_model("llama")
    monkey = cast(Any, model)
    monkey.base_model_prefix = "absent"
    with pytest.raises(Problem, match="architecture LlamaForCausalLM cannot be trained"):
        architecture.check(model)
