"""Supervised fine-tuning: each conversation's assistant turns are taught; one batch of lines is one step.

Lines are taken in the file's order, without shuffling. One conversation a line: messages, or an ART trajectory, whose
histories all count.

Axes: M trained token of a batch.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, cast

import torch

from engine.beat import Beat
from engine.contract import SftConfig, SftJob
from engine.trainer.chat import Sequence, num_without_reasoning
from engine.trainer.errors import Problem, at
from engine.trainer.json_lines import parse_line
from engine.trainer.messages import Report
from engine.trainer.metrics import Metrics
from engine.trainer.model import BaseModel
from engine.trainer.packing import to_row
from engine.trainer.policy import predict
from engine.trainer.taught import tokenize_taught
from engine.trainer.training import PublishState, Training, not_published, require_finite, training
from engine.trainer.turns import AssistantTurns

Json = dict[str, Any]

# As the reference trainer has them for SFT (docs/rl-quirks.md).
WEIGHT_DECAY = 0.0
GRADIENT_NORM_MAX = 1.0


def train(base: BaseModel, job: SftJob, report: Report, publish_state: PublishState = not_published) -> Metrics:
    """Returns the metrics of the job, whose checkpoint is then in its output folder."""
    with training(base, job, "sft", WEIGHT_DECAY, report, publish_state) as run:
        turns = job.config.assistant_turns
        num_lines = check_lines(base, Path(job.data_path), turns, report)
        num_batches = math.ceil(num_lines / job.config.batch_size)
        rates = learning_rates(job.config, num_batches)
        lines = islice(conversations(Path(job.data_path)), run.steps_done * job.config.batch_size, None)

        def take_step(index: int) -> Metrics:
            beat = partial(report.progress, "training", index, num_batches)
            return gradient_step(run, base, list(islice(lines, job.config.batch_size)), rates[index], turns, beat)

        run.run(num_batches, take_step)
        return run.save({})


def check_lines(base: BaseModel, path: Path, turns: AssistantTurns, report: Report) -> int:
    """How many there are. Each is tokenized here and once more in its step: an error in the last line should not cost
    the steps before, and only one batch is in memory at a time. With loom-tiny on a CPU this took 2 ms for a line of
    120 tokens and 4 ms for one of 900, a hundredth of a job's time."""
    num_lines = 0
    for num_lines, (place, histories) in enumerate(conversations(path), 1):
        beat = partial(report.progress, "tokenizing", num_lines, num_lines)
        tokenize_line(base, place, histories, turns, beat)
        beat()
    return num_lines


def learning_rates(config: SftConfig, num_batches: int) -> list[float]:
    if not isinstance(config.learning_rate, list):
        return [config.learning_rate] * num_batches
    if len(config.learning_rate) < num_batches:
        raise Problem(
            f"learning_rate lists {len(config.learning_rate)} rates but the data has {num_batches} batches of "
            f"{config.batch_size}: give one rate for each batch, or a single number"
        )
    return config.learning_rate


def conversations(path: Path) -> Iterator[tuple[str, list[Json]]]:
    """Each line's place and its histories, each with messages and maybe tools; one line in memory at a time."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            place = f"line {number} of the training data"
            with at(place):
                yield place, histories_of(line)


def histories_of(line: bytes) -> list[Json]:
    value = parse_line(line)
    if not isinstance(value, dict):
        raise ValueError('it is no object; write {"messages": [...]}')
    whole = cast(Json, value)
    histories: list[Json] = [whole, *(whole.get("additional_histories") or [])]
    if any(history.get("functions") for history in histories):
        raise ValueError("its functions are not shown to the model: write them as tools, and their calls as tool_calls")
    return [{"messages": messages_of(history), "tools": history.get("tools") or None} for history in histories]


def messages_of(history: Json) -> list[Json]:
    messages = history.get("messages", history.get("messages_and_choices"))
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in cast(list[Any], messages)):
        raise ValueError('it has no list of messages; write {"messages": [{"role": ..., "content": ...}, ...]}')
    found = cast(list[Json], messages)
    for number, message in enumerate(found):
        weight: Any = message.get("weight")
        if not (weight is None or (isinstance(weight, int | float) and weight in (0, 1))):
            raise ValueError(
                f"the weight of messages[{number}] is {weight!r}: 0 leaves a turn out of what is taught, 1 teaches it, "
                "and there is nothing between"
            )
    return found


def gradient_step(
    run: Training,
    base: BaseModel,
    lines: list[tuple[str, list[Json]]],
    learning_rate: float,
    turns: AssistantTurns,
    beat: Beat,
) -> Metrics:
    """The loss is the cross entropy of the batch's trained tokens, in nats a token. Lines of which nothing can be
    trained on, or whose conversations do not fit into the context or have tokens that the model does not know, are
    dropped; with none left the weights stay."""
    started = time.perf_counter()
    whole = [tokenize_line(base, place, histories, turns, beat) for place, histories in lines]
    known = [[one for one in line if one.has_embeddings(base.num_embeddings)] for line in whole]
    tokenized = [[one for one in line if len(one) <= base.num_positions] for line in known]
    sequences = [replace(one, trajectory=(number, 0)) for number, line in enumerate(tokenized) for one in line]
    num_trained = sum(sequence.num_sampled for sequence in sequences)
    num_tokens = sum(map(len, sequences))
    metrics = {
        "learning_rate": learning_rate,
        "num_trajectories": float(sum(1 for line in tokenized if line)),
        "num_tokens": float(num_tokens),
        "num_trainable_tokens": float(num_trained),
        "num_dropped_trajectories": float(sum(1 for line in tokenized if not line)),
        "num_sequences_too_long": float(sum(map(len, known)) - sum(map(len, tokenized))),
        "num_sequences_with_unknown_tokens": float(sum(map(len, whole)) - sum(map(len, known))),
        "num_trajectories_without_reasoning": float(num_without_reasoning(sequences)),
    }
    if sequences:
        run.optimizer.zero_grad()
        loss = torch.zeros((), device=base.device)
        row = to_row(sequences, base.device, share_prefixes=base.shares_prefixes, batch_tokens=base.batch_tokens)
        for share in base.ranks.shares(row):
            logprobs_M, _ = predict(run.model, share.batch, base.keep(share.num_tokens_max))
            piece = share.of(-logprobs_M.sum() / num_trained)
            piece.backward()
            loss += piece.detach()
            beat()
        base.ranks.sum([loss])
        require_finite(loss)
        metrics["loss"] = loss.item()
        metrics["grad_norm"] = run.update(row, learning_rate, GRADIENT_NORM_MAX)
    return metrics | {"tokens_per_second": num_tokens / (time.perf_counter() - started)}


def tokenize_line(
    base: BaseModel, place: str, histories: list[Json], turns: AssistantTurns, beat: Beat
) -> list[Sequence]:
    """Its conversations, of any length. With a beat after each turn: chats may be long."""
    found: list[Sequence] = []
    with at(place):
        for history in histories:
            found += tokenize_taught(history["messages"], history["tools"], base.tokenizer, turns, beat)
    return found
