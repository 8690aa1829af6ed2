"""A failure after which the GPU is of no more use to the process ends it, and no other failure does."""

from threading import Event
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from examples import lora, rl_config

from engine.contract import CreateAdapter, RlJob
from engine.trainer import answers
from engine.trainer.answers import Answers
from engine.trainer.ranks import ALONE

JOB = RlJob(
    kind="rl_job",
    job_id="j1",
    checkpoint_dir="a",
    output_dir="b",
    work_dir="c",
    model="team/p/m",
    policy_step=0,
    reference_dir=None,
    trajectory_groups_path="d",
    config=rl_config(),
)
CREATE = CreateAdapter(kind="create_adapter", request_id="r1", output_dir="b", lora=lora())
CUDA, CPU = torch.device("cuda"), torch.device("cpu")


class Ended(BaseException):
    pass


def end(code: int) -> None:
    raise Ended(code)


def ignore(*_: object) -> None:
    pass


def kinds_sent(monkeypatch: pytest.MonkeyPatch, request: RlJob | CreateAdapter, device: torch.device) -> list[str]:
    """Of messages about a request that fails."""
    sent: list[Any] = []
    monkeypatch.setattr(answers.os, "_exit", end)
    nothing: Any = SimpleNamespace(close_job=ignore)
    base: Any = SimpleNamespace(device=device, ranks=ALONE)
    # Asleep, a trainer refuses all others.
    asked = Answers(base, nothing, nothing, nothing, cast(Any, SimpleNamespace(send=sent.append)), asleep=True)
    try:
        if isinstance(request, RlJob):
            asked.train(request, Event())
        else:
            asked.answer(request)
    except Ended as ended:
        assert ended.args == (1,)
        sent.append(SimpleNamespace(kind="ended"))
    return [message.kind for message in sent]


@pytest.mark.parametrize(
    ("request_", "failed"), [(JOB, "job_failed"), (CREATE, "request_failed")], ids=["job", "create"]
)
def test_a_failure_on_a_broken_gpu_is_not_reported(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], request_: Any, failed: str
) -> None:
    errors: list[Exception | None] = [RuntimeError("CUDA error: an illegal memory access\nwas encountered")]

    def probe(device: torch.device) -> None:
        assert device == CUDA
        if error := errors[-1]:
            raise error

    monkeypatch.setattr(answers, "probe", probe)
    assert kinds_sent(monkeypatch, request_, CUDA) == ["ended"]
    last = capfd.readouterr().err.strip().splitlines()[-1]
    assert last == (
        "The trainer ends: its GPU is of no more use to it: CUDA error: an illegal memory access was encountered"
    )
    assert kinds_sent(monkeypatch, request_, CPU) == [failed]
    for error in (None, torch.OutOfMemoryError("CUDA out of memory")):
        errors.append(error)
        assert kinds_sent(monkeypatch, request_, CUDA) == [failed]
