"""The trainer worker: one base model in memory, requests in on stdin, messages out on stdout (see messages.py).

python -m engine.main --base-model engine/models/loom-tiny
"""

import argparse
import os
import sys
from contextlib import nullcontext
from pathlib import Path
from threading import Event

from engine.contract import (
    AdapterCreated,
    AdapterMerged,
    CreateAdapter,
    MergeAdapter,
    RequestFailed,
    RlJob,
    SftJob,
    WorkerReady,
)
from engine.messages import Cancelled, Inbox, Outbox, Report, heartbeat


def main() -> None:
    # Read when the libraries below are loaded: how long a thread of OpenMP waits for another before it sleeps. The
    # default is so long that a step takes several times as long beside other programs (docs/decisions/0009).
    os.environ.setdefault("GOMP_SPINCOUNT", "3000")
    arguments = parse_arguments()
    outbox = Outbox()
    inbox = Inbox()
    # Imported after stdout was redirected, since libraries may print, and while stdin is watched, since this takes
    # seconds.
    from engine import rl, sft
    from engine.errors import InputProblem, Problem, explain
    from engine.followers import meet
    from engine.merge import merge_adapter
    from engine.model import BaseModel, create_adapter, load_base

    def answer(base: BaseModel, request: CreateAdapter | MergeAdapter) -> None:
        directory = Path(request.output_dir)
        reply = {"request_id": request.request_id, "directory": request.output_dir}
        try:
            if isinstance(request, CreateAdapter):
                create_adapter(base, request.lora, directory)
                outbox.send(AdapterCreated(kind="adapter_created", **reply))
            else:
                gap = merge_adapter(
                    base, Path(request.checkpoint_dir), directory, heartbeat(request.request_id, outbox)
                )
                outbox.send(AdapterMerged(kind="adapter_merged", **reply, logprob_gap_max=gap))
        except Exception as error:
            outbox.send(
                RequestFailed(
                    kind="request_failed",
                    request_id=request.request_id,
                    error_message=explain(error),
                    error_field=error.place if isinstance(error, InputProblem) else None,
                )
            )

    def train(base: BaseModel, job: RlJob | SftJob, cancelled: Event) -> None:
        # The server tells rank 0 alone, and all stop at the same point.
        report = Report(job.job_id, outbox, lambda: ranks.as_first(cancelled.is_set()))
        try:
            if isinstance(job, RlJob):
                rl.train(base, job, report)
            else:
                sft.train(base, job, report)
        except Cancelled:
            report.cancelled()
        except Exception as error:
            report.failed(explain(error))
        inbox.close_job(job.job_id, cancelled)

    try:
        ranks, followers = meet(arguments.rank, arguments.processes, arguments.port)
        base = load_base(
            arguments.base_model,
            arguments.base_model_id,
            arguments.gradient_checkpointing,
            arguments.metric_passes,
            ranks,
        )
    except Problem as problem:
        explain(problem)
        # The last line of the log is read first. The thread that reads stdin would delay an ordinary exit.
        print(f"The trainer cannot start: {problem}", file=sys.stderr, flush=True)
        os._exit(1)
    outbox.send(
        WorkerReady(
            kind="worker_ready",
            base_model=base.name,
            device=str(base.device),
            dtype=str(base.dtype).removeprefix("torch."),
        )
    )
    while True:
        request, cancelled = inbox.next()
        # An adapter is made without running the model.
        with nullcontext() if isinstance(request, CreateAdapter) else followers.at(request):
            if isinstance(request, RlJob | SftJob):
                train(base, request, cancelled)
            else:
                answer(base, request)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m engine.main")
    parser.add_argument("--base-model", required=True, help="folder or Hugging Face id of the base model")
    parser.add_argument("--base-model-id", default="heddle/loom-tiny", help="the name that adapters record")
    parser.add_argument(
        "--gradient-checkpointing",
        choices=("auto", "on", "off"),
        default="auto",
        help="layers run a second time in the backward pass: less memory, more time; auto: where a batch is large",
    )
    parser.add_argument(
        "--metric-passes",
        choices=("all", "sampled", "none"),
        default="all",
        help="rows that policies other than the trained one are asked about for metrics alone; sampled: the last",
    )
    parser.add_argument(
        "--processes", type=int, default=1, help="that train together, each on its own GPU; this one starts the others"
    )
    parser.add_argument("--rank", type=int, default=0, help="set by the process that starts the others")
    parser.add_argument("--port", type=int, help="of that process, likewise")
    return parser.parse_args()


if __name__ == "__main__":
    main()
