"""What the worker does with a request, on one base model."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import torch

from engine.contract import (
    AdapterCreated,
    AdapterMerged,
    Asleep,
    Awake,
    CreateAdapter,
    MergeAdapter,
    RequestFailed,
    RlJob,
    SftJob,
    Sleep,
    Wake,
)
from engine.problem import one_line
from engine.trainer import base_on_device, rl, sft
from engine.trainer.errors import InputProblem, Problem, explain, is_out_of_memory
from engine.trainer.followers import Followers
from engine.trainer.merge import merge_adapter
from engine.trainer.messages import Cancelled, Inbox, Outbox, Phase, Report, heartbeat
from engine.trainer.model import BaseModel, create_adapter
from engine.workspace import Workspace, on_this_machine


@dataclass
class Answers:
    base: BaseModel
    followers: Followers
    workspace: Workspace
    inbox: Inbox
    outbox: Outbox
    asleep: bool = False

    def answer(self, request: CreateAdapter | MergeAdapter | Sleep | Wake) -> None:
        try:
            if isinstance(request, Sleep | Wake):
                self._sleep_or_wake(request)
            elif isinstance(request, CreateAdapter):
                self._create(request)
            else:
                self._merge(request)
        except Exception as error:
            reason = explain(error)
            end_if_broken(self.base.device)
            self.outbox.send(
                RequestFailed(
                    kind="request_failed",
                    request_id=request.request_id,
                    error_message=reason,
                    error_field=error.place if isinstance(error, InputProblem) else None,
                )
            )

    def train(self, job: RlJob | SftJob, cancelled: Event) -> None:
        # The server tells rank 0 alone, and all stop at the same point.
        report = Report(job.job_id, self.outbox, lambda: self.base.ranks.as_first(cancelled.is_set()))
        try:
            metrics = self._trained(job, report, cancelled)
            report.saved(job.output_dir, metrics)
        except Cancelled:
            report.cancelled()
        except Exception as error:
            reason = explain(error)
            end_if_broken(self.base.device)
            report.failed(reason)
        self.inbox.close_job(job.job_id, cancelled)

    def _sleep_or_wake(self, request: Sleep | Wake) -> None:
        sleeps = isinstance(request, Sleep)
        with self.followers.at(request):
            (base_on_device.leave if sleeps else base_on_device.come_back)(self.base)
            # Where another rank fails, this one does not go on alone.
            self.base.ranks.wait()
        self.asleep = sleeps
        reply = {"request_id": request.request_id}
        self.outbox.send(Asleep(kind="asleep", **reply) if sleeps else Awake(kind="awake", **reply))

    def _require_awake(self) -> None:
        if self.asleep:
            raise Problem("the trainer is asleep, and was not woken for this request")

    def _create(self, request: CreateAdapter) -> None:
        self._require_awake()
        # Made without running the model, so without other ranks.
        beat = heartbeat(request.request_id, self.outbox)
        with on_this_machine(self.workspace, request, lambda: beat(0, 1)) as (local, publisher):
            create_adapter(self.base, local.lora, Path(local.output_dir))
            publisher.publish_output()
        reply = {"request_id": request.request_id, "directory": request.output_dir}
        self.outbox.send(AdapterCreated(kind="adapter_created", **reply))

    def _merge(self, request: MergeAdapter) -> None:
        self._require_awake()
        beat = heartbeat(request.request_id, self.outbox)
        with on_this_machine(self.workspace, request, lambda: beat(0, 1)) as (local, publisher):
            with self.followers.at(local):
                gap = merge_adapter(self.base, Path(local.checkpoint_dir), Path(local.output_dir), beat)
            publisher.publish_output()
        reply = {"request_id": request.request_id, "directory": request.output_dir}
        self.outbox.send(AdapterMerged(kind="adapter_merged", **reply, logprob_gap_max=gap))

    def _trained(self, job: RlJob | SftJob, report: Report, cancelled: Event) -> dict[str, float]:
        self._require_awake()
        phase: Phase = "loading"

        def beat() -> None:
            # Other ranks have not begun, or have ended.
            if cancelled.is_set():
                raise Cancelled
            report.alive(phase, 0, 1)

        with on_this_machine(self.workspace, job, beat) as (local, publisher):
            with self.followers.at(local):
                if isinstance(local, RlJob):
                    metrics = rl.train(self.base, local, report, publisher.publish_work)
                else:
                    metrics = sft.train(self.base, local, report, publisher.publish_work)
            phase = "saving"
            publisher.publish_output()
        return metrics


def end_if_broken(device: torch.device) -> None:
    """After some errors, such as an illegal memory access, nothing works on a GPU in this process any more. It then
    ends without reporting the failure: the server starts it again and sends it the job again, as often as it does after
    any end of a worker."""
    if device.type != "cuda":
        return
    try:
        probe(device)
    except Exception as error:
        if not is_out_of_memory(error):
            print(f"The trainer ends: its GPU is of no more use to it: {one_line(error)}", file=sys.stderr, flush=True)
            os._exit(1)


def probe(device: torch.device) -> None:
    """Raises what an earlier operation left behind, too: errors of a GPU show late."""
    torch.ones(1, device=device).add_(1)
    torch.cuda.synchronize(device)
