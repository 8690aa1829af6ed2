"""The messages of the server and of the worker are the same in both languages."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from engine.contract import WorkerMessage, WorkerRequest

EXAMPLES = sorted((Path(__file__).parents[2] / "contract/examples").glob("*.json"))
REQUESTS = {"create_adapter", "rl_job", "sft_job", "merge_adapter", "sleep", "wake", "cancel_job"}


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_example_survives_a_round_trip(path: Path) -> None:
    example = json.loads(path.read_text())
    union = WorkerRequest if example["kind"] in REQUESTS else WorkerMessage
    assert json.loads(union.model_validate(example).model_dump_json()) == example


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_unknown_field_is_refused(path: Path) -> None:
    example = {**json.loads(path.read_text()), "unknown": 1}
    union = WorkerRequest if example["kind"] in REQUESTS else WorkerMessage
    with pytest.raises(ValidationError):
        union.model_validate(example)
