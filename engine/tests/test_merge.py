"""A merged model is a model of its own, and merging leaves the worker's base as it was."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from examples import LOOM_TINY, lora, sums, write_lines
from safetensors.torch import load_file, save_file  # pyright: ignore[reportUnknownVariableType]
from transformers import AutoModelForCausalLM, AutoTokenizer
from worker import Worker, files

from engine.trainer.errors import Problem
from engine.trainer.merge import logprobs, merge_adapter
from engine.trainer.model import BaseModel, adapter, create_adapter


def test_it_loads_and_agrees(worker: Worker, step_0: Path, tokenizer: Any, base: BaseModel, tmp_path: Path) -> None:
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 6))
    worker.run_job("a", step_0, tmp_path / "step-1", groups, packed_sequence_length=160, learning_rate=2e-2)
    merged = worker.merge(tmp_path / "step-1", tmp_path / "merged")
    assert merged == {
        "kind": "adapter_merged",
        "request_id": "r2",
        "directory": str(tmp_path / "merged"),
        "logprob_gap_max": merged["logprob_gap_max"],
    }
    assert 0 <= merged["logprob_gap_max"] < 1e-3
    assert {"config.json", "model.safetensors", "tokenizer.json", "chat_template.jinja"} <= files(
        tmp_path / "merged"
    ).keys()
    loaded = cast(Any, AutoModelForCausalLM.from_pretrained(tmp_path / "merged", dtype=torch.float32))
    text = cast(Any, AutoTokenizer.from_pretrained(tmp_path / "merged")).apply_chat_template(
        [{"role": "user", "content": "What is 3 + 3?"}], tokenize=False
    )
    assert text == tokenizer.apply_chat_template([{"role": "user", "content": "What is 3 + 3?"}], tokenize=False)
    tokens_T = torch.tensor(tokenizer.encode(text))
    plain = cast(Any, AutoModelForCausalLM.from_pretrained(LOOM_TINY, dtype=torch.float32))
    with adapter(base, tmp_path / "step-1") as model:
        wanted_BT = logprobs(model, tokens_T[None])
    assert torch.allclose(logprobs(loaded, tokens_T[None]), wanted_BT, atol=1e-3)
    assert (logprobs(plain, tokens_T[None]) - wanted_BT).abs().max() > 1e-2


def test_the_base_stays_as_it_was(base: BaseModel, tmp_path: Path) -> None:
    create_adapter(base, lora(), tmp_path / "zero")
    before = {name: parameter.clone() for name, parameter in base.model.state_dict().items()}
    merge_adapter(base, tmp_path / "zero", tmp_path / "merged")
    after = base.model.state_dict()
    assert before.keys() == after.keys()
    assert all(before[name].equal(after[name]) for name in before)


def test_jobs_after_a_merge_are_the_same(worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path) -> None:
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 3))
    worker.run_job("a", step_0, tmp_path / "before", groups)
    worker.merge(tmp_path / "before", tmp_path / "merged")
    worker.run_job("b", step_0, tmp_path / "after", groups)
    assert files(tmp_path / "after") == files(tmp_path / "before")


def test_a_missing_checkpoint(worker: Worker, tmp_path: Path) -> None:
    failed = worker.merge(tmp_path / "absent", tmp_path / "merged")
    assert failed["kind"] == "request_failed"
    assert "absent" in failed["error_message"]
    assert not (tmp_path / "merged").exists()


def test_a_merged_model_is_as_precise_as_its_base(base: BaseModel, tmp_path: Path) -> None:
    """A base in bfloat16, as on a GPU: the same bytes, and each weight the sum rounded once."""
    model = cast(Any, AutoModelForCausalLM.from_pretrained(LOOM_TINY, dtype=torch.bfloat16))
    half = replace(base, model=model.requires_grad_(False), dtype=torch.bfloat16)
    create_adapter(half, lora(), tmp_path / "one")
    weights = load_file(tmp_path / "one" / "adapter_model.safetensors")
    generator = torch.Generator().manual_seed(0)
    disturbed = {name: torch.randn(tensor.shape, generator=generator) * 0.02 for name, tensor in weights.items()}
    save_file(disturbed, tmp_path / "one" / "adapter_model.safetensors")
    merge_adapter(half, tmp_path / "one", tmp_path / "merged")
    model.save_pretrained(tmp_path / "own")
    merged, own = (load_file(tmp_path / name / "model.safetensors") for name in ("merged", "own"))
    assert {name: tensor.dtype for name, tensor in merged.items()} == {name: torch.bfloat16 for name in own}
    sizes = [(tmp_path / name / "model.safetensors").stat().st_size for name in ("merged", "own")]
    assert sizes[0] == sizes[1]
    name = "model.layers.0.mlp.up_proj"
    a, b = (disturbed[f"base_model.model.{name}.lora_{side}.weight"] for side in "AB")
    assert merged[f"{name}.weight"].equal((own[f"{name}.weight"].float() + 2 * (b @ a)).bfloat16())


def test_a_merge_in_several_files_says_how_far_it_is(
    base: BaseModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_adapter(base, lora(), tmp_path / "zero")
    merge_adapter(base, tmp_path / "zero", tmp_path / "whole")
    monkeypatch.setattr("engine.trainer.merge.FILE_BYTES_MAX", 4_000_000)
    beats: list[tuple[int, int]] = []
    merge_adapter(base, tmp_path / "zero", tmp_path / "parts", lambda done, total: beats.append((done, total)))
    whole = load_file(tmp_path / "whole" / "model.safetensors")
    assert beats == sorted(beats)
    assert [*dict.fromkeys(beats)] == [(done, len(whole)) for done in range(len(whole) + 1)]
    parts = sorted((tmp_path / "parts").glob("model-*.safetensors"))
    assert len(parts) > 2
    found = {name: tensor for part in parts for name, tensor in load_file(part).items()}
    assert found.keys() == whole.keys()
    assert all(found[name].equal(whole[name]) for name in whole)
    AutoModelForCausalLM.from_pretrained(tmp_path / "parts")
    again = replace(base, path=str(tmp_path / "parts"))
    assert merge_adapter(again, tmp_path / "zero", tmp_path / "again") < 1e-5


def test_files_with_other_names_are_refused(base: BaseModel, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    save_file({"weight": torch.zeros(1)}, tmp_path / "other" / "model.safetensors")
    create_adapter(base, lora(), tmp_path / "zero")
    with pytest.raises(Problem, match=r"they have no model.layers.0.mlp.down_proj.weight"):
        merge_adapter(replace(base, path=str(tmp_path / "other")), tmp_path / "zero", tmp_path / "merged")
    assert not (tmp_path / "merged").exists()
