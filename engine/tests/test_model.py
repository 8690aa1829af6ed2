"""The committed model, and the trainer's view of it."""

import json
import shutil
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
import torch
from examples import LOOM_TINY, disturb, lora
from peft.tuners.lora import LoraLayer
from safetensors.torch import load_file, save_file  # pyright: ignore[reportUnknownVariableType]
from tiny_models import tiny_model
from transformers import AutoModelForCausalLM

import make
import skills
from engine.trainer.chat import Sequence
from engine.trainer.errors import Problem
from engine.trainer.model import BaseModel, adapter, create_adapter, lent_weights, load_base, state_of
from engine.trainer.packing import to_row
from engine.trainer.policy import predict

SIZE_MAX = 8_000_000  # bytes: the model is part of the repository


def test_the_committed_model_is_small_and_complete() -> None:
    files = {path.name: path.stat().st_size for path in LOOM_TINY.iterdir()}
    assert sum(files.values()) <= SIZE_MAX
    assert {"README.md", "config.json", "model.safetensors", "tokenizer.json", "chat_template.jinja"} <= files.keys()
    assert json.loads((LOOM_TINY / "config.json").read_text())["architectures"] == ["Qwen2ForCausalLM"]


@pytest.mark.parametrize("text", ["What is 17 + 25?", '{"answer": 42}', "Grüße, 世界 🙂", " \n\t", "don't 3.14 x_1"])
def test_the_tokenizer_round_trips(tokenizer: Any, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_digits_are_single_tokens(tokenizer: Any) -> None:
    assert [tokenizer.decode([token]) for token in tokenizer.encode("2048")] == ["2", "0", "4", "8"]


def test_the_saved_tokenizer_is_the_one_the_model_was_trained_with(tokenizer: Any) -> None:
    trained = make.train_tokenizer(seed=0)
    rng = Random("tokenizer test")
    for _ in range(300):
        sample = skills.draw(rng)
        assert make.encode(tokenizer, sample) == make.encode(trained, sample)


def test_the_assistant_mask_covers_what_the_assistant_says(tokenizer: Any) -> None:
    turns = [("user", "Hi"), ("assistant", "Hello!"), ("user", "2 + 2 = ?"), ("assistant", "4")]
    messages = [{"role": role, "content": content} for role, content in turns]
    encoded = tokenizer.apply_chat_template(messages, return_dict=True, return_assistant_tokens_mask=True)
    chosen = [t for t, m in zip(encoded["input_ids"], encoded["assistant_masks"], strict=True) if m]
    assert tokenizer.decode(chosen) == "Hello!<|im_end|>4<|im_end|>"


def test_a_tool_call_is_printed_as_the_model_learnt_it(tokenizer: Any) -> None:
    use = skills.tool_use(Random(0))
    function = {"name": use.tool["function"]["name"], "arguments": json.dumps(use.arguments)}
    for call in (function, {**function, "arguments": use.arguments}):
        messages = [skills.user("x"), {"role": "assistant", "content": None, "tool_calls": [{"function": call}]}]
        text = tokenizer.apply_chat_template(messages, tools=[use.tool], tokenize=False)
        assert text.endswith(f"<|im_start|>assistant\n{skills.call_text(use)}<|im_end|>\n")


def test_it_adds(base: BaseModel, tokenizer: Any) -> None:
    messages = [skills.system("Answer in JSON."), skills.user("What is 17 + 25?")]
    inputs = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_tensors="pt", return_dict=True)
    tokens_BT = cast(Any, base.model).generate(**inputs, max_new_tokens=20, do_sample=False)
    start = inputs["input_ids"].shape[1]
    assert tokenizer.decode(tokens_BT[0, start:], skip_special_tokens=True) == '{"answer": 42}'


def test_a_row_has_the_logprobs_of_its_sequences_one_by_one(base: BaseModel, tmp_path: Path) -> None:
    """Padding, batching and the zero adapter change nothing."""
    rng = Random("rows")
    sequences: list[Sequence] = []
    for length in (7, 40, 12, 12, 90):
        tokens = [rng.randrange(3, 1500) for _ in range(length)]
        sequences.append(Sequence(tokens, [i >= length // 2 for i in range(length)], [-1.0] * length))
    create_adapter(base, lora(), tmp_path / "zero")
    with adapter(base, tmp_path / "zero") as model, torch.no_grad():
        row = to_row(sequences, torch.device("cpu"), share_prefixes=True, batch_tokens=100)
        predicted = [predict(model, batch) for batch in row.batches]
    plain = cast(Any, AutoModelForCausalLM.from_pretrained(LOOM_TINY, dtype=torch.float32))
    expected: list[float] = []
    for sequence in sorted(sequences, key=len):
        with torch.no_grad():
            all_logprobs_TV = plain(torch.tensor([sequence.tokens])).logits[0].log_softmax(-1)
        sampled = [i for i, flag in enumerate(sequence.sampled) if flag]
        expected += [all_logprobs_TV[i - 1, sequence.tokens[i]].item() for i in sampled]
    logprobs_N, entropy_N = (torch.cat(columns) for columns in zip(*predicted, strict=True))
    assert logprobs_N.tolist() == pytest.approx(expected, abs=1e-5)
    assert (entropy_N > 0).all()


def test_the_base_model_is_left_as_it_was(base: BaseModel, tmp_path: Path) -> None:
    before = {name: parameter.clone() for name, parameter in base.model.named_parameters()}
    create_adapter(base, lora(), tmp_path / "zero")
    with adapter(base, tmp_path / "zero"):
        pass
    after = dict(base.model.named_parameters())
    assert before.keys() == after.keys()
    assert all(before[name].equal(after[name]) for name in before)
    assert not any(parameter.requires_grad for parameter in after.values())


@pytest.mark.parametrize(
    "options",
    [
        {"init_lora_weights": "pissa"},
        {"init_lora_weights": "olora"},
        {"layer_replication": [[0, 2], [1, 2]]},
        {"target_modules": ["q_proj", "norm"]},
        {"target_modules": "(.+)+!"},
        {"bias": "all", "modules_to_save": ["embed_tokens"], "lora_dropout": 0.9},
    ],
    ids=str,
)
def test_a_client_s_adapter_config_does_not_change_the_base_model(
    base: BaseModel, tmp_path: Path, options: dict[str, Any]
) -> None:
    """The next job, of whatever team, is trained on it."""
    before = {name: parameter.clone() for name, parameter in base.model.named_parameters()}
    create_adapter(base, lora(), tmp_path / "own")
    file = tmp_path / "own" / "adapter_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **options}))
    with adapter(base, tmp_path / "own") as model:
        trained = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
    assert len(trained) == 2 * len(lora().target_modules) * base.model.config.num_hidden_layers
    after = dict(base.model.named_parameters())
    assert before.keys() == after.keys()
    assert all(before[name].equal(after[name]) for name in before)


def test_patterns_of_an_adapter_are_names_alone(base: BaseModel, tmp_path: Path) -> None:
    create_adapter(base, lora(), tmp_path / "own")
    file = tmp_path / "own" / "adapter_config.json"
    described = json.loads(file.read_text())
    file.write_text(json.dumps({**described, "alpha_pattern": {"q_proj": 4}}))
    with adapter(base, tmp_path / "own") as model:
        layers = cast(list[Any], [layer for layer in model.modules() if isinstance(layer, LoraLayer)])
        scales: set[float] = {layer.scaling["default"] for layer in layers}
    assert scales == {0.5, 2.0}
    file.write_text(json.dumps({**described, "rank_pattern": {"(.+)+!": 8}}))
    with pytest.raises(Problem, match="names of layers"), adapter(base, tmp_path / "own"):
        pass


@pytest.mark.parametrize("made", [0, 5])
def test_an_error_in_the_middle_of_an_injection_leaves_the_bare_model(
    base: BaseModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: int
) -> None:
    """As memory that runs out: the next job is trained on it."""
    before = {name: parameter.clone() for name, parameter in base.model.named_parameters()}
    create_adapter(base, lora(), tmp_path / "zero")
    place = cast(Any, LoraLayer).update_layer
    calls: list[None] = []

    def place_some(*arguments: Any, **options: Any) -> None:
        if len(calls) == made:
            raise torch.OutOfMemoryError
        calls.append(None)
        place(*arguments, **options)

    with monkeypatch.context() as patched:
        patched.setattr(LoraLayer, "update_layer", place_some)
        for use in (lambda: create_adapter(base, lora(), tmp_path / "none"), lambda: entered(base, tmp_path / "zero")):
            calls.clear()
            with pytest.raises(torch.OutOfMemoryError):
                use()
            assert len(calls) == made
            after = dict(base.model.named_parameters())
            assert before.keys() == after.keys()
            assert all(before[name].equal(after[name]) for name in before)
            assert not hasattr(base.model, "peft_config")
    assert not (tmp_path / "none").exists()
    entered(base, tmp_path / "zero")


def entered(base: BaseModel, directory: Path) -> None:
    with adapter(base, directory):
        pass


def test_a_reference_may_be_described_otherwise(base: BaseModel, tmp_path: Path) -> None:
    """As PEFT describes an adapter that a client saved. What changes its numbers is refused."""
    own, lent = tmp_path / "own", tmp_path / "lent"
    for folder in (own, lent):
        create_adapter(base, lora(), folder)
    disturb(lent, 1, 0.05)
    described = json.loads((lent / "adapter_config.json").read_text())
    by_peft = {
        **described,
        "peft_version": "0.1",
        "inference_mode": True,
        "base_model_name_or_path": "elsewhere",
        "target_modules": described["target_modules"][::-1],
    }
    (lent / "adapter_config.json").write_text(json.dumps(by_peft))
    weights = load_file(lent / "adapter_model.safetensors")
    with adapter(base, own) as model:
        with lent_weights(model, own, lent):
            assert all(tensor.equal(weights[name]) for name, tensor in state_of(model).items())
        for change in ({"lora_alpha": 99}, {"use_rslora": True}, {"rank_pattern": {"q_proj": 4}}):
            (lent / "adapter_config.json").write_text(json.dumps(by_peft | change))
            with pytest.raises(Problem, match="reference checkpoint lent has other layers, ranks or alphas"):
                lent_weights(model, own, lent).__enter__()
        (lent / "adapter_config.json").write_text(json.dumps(by_peft))
        of_some = {name: weight for name, weight in weights.items() if "q_proj" in name}
        save_file(of_some, lent / "adapter_model.safetensors")
        with pytest.raises(Problem, match="has other layers"):
            lent_weights(model, own, lent).__enter__()


def test_the_tokenizer_of_a_mistral_model_has_its_chat_template(tmp_path: Path) -> None:
    """Beside tekken.json, from which transformers would take one without a template; it is not read."""
    cast(Any, tiny_model("mistral")).save_pretrained(tmp_path)
    for name in ("tokenizer.json", "chat_template.jinja"):
        shutil.copyfile(LOOM_TINY / name, tmp_path / name)
    (tmp_path / "tekken.json").write_text("{}")
    found = load_base(str(tmp_path), "tiny")
    assert cast(Any, found.tokenizer).chat_template == (LOOM_TINY / "chat_template.jinja").read_text()
