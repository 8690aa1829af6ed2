"""SFT jobs over the worker's pipes."""

import copy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from examples import LOOM_TINY, Json, choice, lora, sums, trajectory, user, write_lines
from safetensors.torch import load_file  # pyright: ignore[reportUnknownVariableType]
from templates import text_of, with_template
from transformers import AutoModelForCausalLM
from worker import Worker, files, steps

from engine.beat import no_beat
from engine.trainer import sft
from engine.trainer.model import BaseModel, adapter, create_adapter


def lesson(question: str, answer: str) -> Json:
    return {"messages": [user(question), {"role": "assistant", "content": answer}]}


LESSONS = [lesson(f"What is {x} + {x}?", f"Twice {x}, so {2 * x}.") for x in range(7)]


def test_batches_are_groups_of_lines_in_order(worker: Worker, step_0: Path, tmp_path: Path) -> None:
    data = write_lines(tmp_path / "data", LESSONS)
    messages = worker.run_sft(
        "s1", step_0, tmp_path / "step-1", data, batch_size=3, learning_rate=[1e-3, 2e-3, 3e-3, 9.0]
    )
    (started,) = [message for message in messages if message["kind"] == "training_started"]
    metrics = steps(messages)
    assert started["num_sequences"] == len(metrics) == 3
    assert [step["num_trajectories"] for step in metrics] == [3, 3, 1]
    assert [step["learning_rate"] for step in metrics] == [1e-3, 2e-3, 3e-3]
    assert all(step["tokens_per_second"] > 0 and step["grad_norm"] > 0 for step in metrics)
    assert all(step["num_tokens"] > step["num_trainable_tokens"] > 0 for step in metrics)
    saved = messages[-1]["metrics"]
    assert saved["num_gradient_steps"] == 3
    assert saved["num_trajectories"] == 7
    assert saved["num_dropped_trajectories"] == 0
    assert sorted(files(tmp_path / "step-1")) == [
        "adapter_config.json",
        "adapter_model.safetensors",
        "optimizer.safetensors",
        "trainer_state.json",
    ]


def test_the_loss_is_the_mean_over_the_trained_tokens(
    worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path
) -> None:
    data = write_lines(tmp_path / "data", LESSONS[:2])
    (metrics,) = steps(worker.run_sft("s1", step_0, tmp_path / "step-1", data))
    plain = cast(Any, AutoModelForCausalLM.from_pretrained(LOOM_TINY, dtype=torch.float32))
    losses: list[float] = []
    for line in LESSONS[:2]:
        encoded = tokenizer.apply_chat_template(line["messages"], return_dict=True, return_assistant_tokens_mask=True)
        with torch.no_grad():
            all_logprobs_TV = plain(torch.tensor([encoded["input_ids"]])).logits[0].log_softmax(-1)
        losses += [
            -all_logprobs_TV[position - 1, token].item()
            for position, token in enumerate(encoded["input_ids"])
            if encoded["assistant_masks"][position]
        ]
    assert metrics["num_trainable_tokens"] == len(losses)
    assert metrics["loss"] == pytest.approx(sum(losses) / len(losses), rel=1e-4)


def test_it_learns_what_it_is_taught(worker: Worker, step_0: Path, tmp_path: Path) -> None:
    data = write_lines(tmp_path / "data", LESSONS * 6)
    metrics = steps(worker.run_sft("s1", step_0, tmp_path / "step-1", data, batch_size=7, learning_rate=5e-3))
    assert metrics[-1]["loss"] < 0.5 * metrics[0]["loss"]


def test_an_art_trajectory_is_a_line_too(worker: Worker, step_0: Path, tmp_path: Path) -> None:
    turns = [user("a"), choice([5], content="b")]
    line = trajectory(turns, 1.0, additional_histories=[{"messages_and_choices": turns, "tools": None}])
    (one,) = steps(worker.run_sft("s1", step_0, tmp_path / "1", write_lines(tmp_path / "a", [lesson("a", "b")] * 2)))
    (other,) = steps(worker.run_sft("s2", step_0, tmp_path / "2", write_lines(tmp_path / "b", [line])))
    assert other["num_trajectories"] == 1
    for name in ("loss", "num_tokens", "num_trainable_tokens"):
        assert other[name] == pytest.approx(one[name])


def test_lines_that_cannot_be_taught_are_dropped_and_counted(worker: Worker, step_0: Path, tmp_path: Path) -> None:
    too_long, unanswered = lesson("a", "word " * 3000), {"messages": [user("a")]}
    lines = [LESSONS[0], too_long, unanswered, too_long, LESSONS[1], LESSONS[2]]
    messages = worker.run_sft("s1", step_0, tmp_path / "step-1", write_lines(tmp_path / "data", lines))
    assert [step["num_dropped_trajectories"] for step in steps(messages)] == [1, 2, 0]
    assert ["loss" in step for step in steps(messages)] == [True, False, True]
    saved = messages[-1]["metrics"]
    assert saved["num_dropped_trajectories"] == 3
    assert saved["num_sequences_too_long"] == 2
    assert saved["loss"] == pytest.approx((steps(messages)[0]["loss"] + steps(messages)[2]["loss"]) / 2)


def test_a_token_without_an_embedding_leaves_out_its_conversation_alone(
    base: BaseModel, tokenizer: Any, tmp_path: Path
) -> None:
    """As in RL. On a GPU it would end the trainer."""

    def no_update(*_: object) -> float:
        return 0.0

    more = copy.deepcopy(tokenizer)
    more.add_tokens(["<|beyond|>"])
    beyond, known = ({**lesson("a", answer), "tools": None} for answer in ("b <|beyond|>", "b"))
    lines: list[tuple[str, list[Json]]] = [("line 1", [known, beyond]), ("line 2", [beyond])]
    create_adapter(base, lora(), tmp_path / "zero")
    with adapter(base, tmp_path / "zero") as model:
        run = SimpleNamespace(model=model, optimizer=torch.optim.SGD([torch.zeros(1)]), update=no_update)
        found = sft.gradient_step(cast(Any, run), replace(base, tokenizer=more), lines, 0.0, "all", no_beat)
    assert found["num_sequences_with_unknown_tokens"] == 2
    assert (found["num_trajectories"], found["num_dropped_trajectories"]) == (1, 1)
    assert found["loss"] > 0


@pytest.mark.parametrize(("turns", "rendered"), [("all", 3), ("last", 1)])
def test_a_long_chat_is_not_silent(tokenizer: Any, tmp_path: Path, turns: Any, rendered: int) -> None:
    """A worker counts as hanging when it says nothing for long, and a cancel takes effect when it does."""
    told: list[tuple[object, ...]] = []

    def progress(*how: object) -> None:
        told.append(how)

    base = SimpleNamespace(tokenizer=with_template(tokenizer, text_of("qwen3")), num_positions=2048)
    talk: Json = {"messages": [*lesson("a", "b")["messages"]] * 3}
    data, report = write_lines(tmp_path / "data", [talk]), SimpleNamespace(progress=progress)
    assert sft.check_lines(cast(Any, base), data, turns, cast(Any, report)) == 1
    # Each turn is rendered, and compared with the sequences before it.
    assert told == [("tokenizing", 1, 1)] * (2 * rendered + 1)


def test_lines_that_are_taught_without_their_reasoning_are_counted(
    worker: Worker, step_0: Path, tmp_path: Path
) -> None:
    thinking = {"role": "assistant", "content": "b", "reasoning_content": "why"}
    with_reasoning: Json = {"messages": [user("a"), thinking, user("a"), thinking]}
    data = write_lines(tmp_path / "data", [with_reasoning, LESSONS[0], with_reasoning])
    (step,) = steps(worker.run_sft("s1", step_0, tmp_path / "step-1", data, batch_size=3))
    assert step["num_trajectories_without_reasoning"] == 2


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_nothing_to_teach(worker: Worker, step_0: Path, tmp_path: Path, content: str) -> None:
    (tmp_path / "data").write_text(content)
    messages = worker.run_sft("s1", step_0, tmp_path / "step-1", tmp_path / "data", learning_rate=[])
    assert [message["kind"] for message in messages if message["kind"] != "job_progress"] == [
        "training_started",
        "checkpoint_saved",
    ]
    assert messages[-1]["metrics"]["num_gradient_steps"] == 0
    assert files(tmp_path / "step-1") == files(step_0)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{not json", "line 2 of the training data: it is not JSON"),
        ("[" * 5_000 + "]" * 5_000, "line 2 of the training data: it is nested too deeply"),
        ("[1, 2]", "line 2 of the training data: it is no object"),
        (
            '{"functions": [{"name": "add"}], "messages": [{"role": "assistant", "content": "b"}]}',
            "line 2 of the training data: its functions are not shown to the model: write them as tools",
        ),
        ('{"prompt": "a"}', "line 2 of the training data: it has no list of messages"),
        ('{"messages": ["a"]}', "line 2 of the training data: it has no list of messages"),
        ('{"messages": [{"content": "a"}, {"role": "assistant", "content": 5}]}', "line 2 of the training data"),
        (
            '{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "weight": 0.3}]}',
            "line 2 of the training data: the weight of messages[1] is 0.3",
        ),
        (
            r'{"messages": [{"role": "user", "content": "\ud800"}, {"role": "assistant", "content": "b"}]}',
            "line 2 of the training data[0].content: it has a surrogate without its other half",
        ),
        (
            '{"messages": [{"role": "assistant", "content": "b", "weight": "0"}]}',
            "line 2 of the training data: the weight of messages[0] is '0'",
        ),
    ],
)
def test_a_line_that_is_no_conversation(worker: Worker, step_0: Path, tmp_path: Path, line: str, message: str) -> None:
    data = write_lines(tmp_path / "data", LESSONS[:1])
    data.write_text(data.read_text() + line + "\n")
    failed = worker.run_sft("s1", step_0, tmp_path / "none", data)[-1]
    assert failed["kind"] == "job_failed"
    assert message in failed["error_message"]
    assert not (tmp_path / "none").exists()


def test_no_step_is_taken_before_all_lines_are_known_to_be_good(worker: Worker, step_0: Path, tmp_path: Path) -> None:
    bad = {"messages": [user("a"), {"role": "assistant", "content": 5}]}
    data = write_lines(tmp_path / "data", [*LESSONS, bad])
    messages = worker.run_sft("s1", step_0, tmp_path / "none", data)
    assert messages[-1]["kind"] == "job_failed"
    assert "line 8 of the training data" in messages[-1]["error_message"]
    assert steps(messages) == []


def test_too_few_learning_rates(worker: Worker, step_0: Path, tmp_path: Path) -> None:
    data = write_lines(tmp_path / "data", LESSONS)
    messages = worker.run_sft("s1", step_0, tmp_path / "none", data, learning_rate=[1e-3] * 3)
    assert steps(messages) == []
    assert "lists 3 rates but the data has 4 batches of 2" in messages[-1]["error_message"]


def test_moments_are_kept_for_the_same_kind_of_training_only(
    worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path
) -> None:
    data, groups = write_lines(tmp_path / "data", LESSONS[:2]), write_lines(tmp_path / "groups", sums(tokenizer, 2))

    def adam_steps(directory: Path) -> float:
        tensors = load_file(directory / "optimizer.safetensors")
        return max(tensor.item() for name, tensor in tensors.items() if name.endswith("/step"))

    worker.run_sft("s1", step_0, tmp_path / "1", data)
    worker.run_sft("s2", tmp_path / "1", tmp_path / "2", data)
    assert adam_steps(tmp_path / "2") == 2
    worker.run_job("r1", tmp_path / "2", tmp_path / "3", groups)
    assert adam_steps(tmp_path / "3") == 1
    worker.run_sft("s3", tmp_path / "3", tmp_path / "4", data)
    assert adam_steps(tmp_path / "4") == 1
