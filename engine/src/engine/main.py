"""The trainer worker: one base model in memory, requests in on stdin, messages out on stdout (see messages.py).

python -m engine.main --base-model engine/models/loom-tiny
"""

import argparse
import gc
import logging
import os
import sys
import traceback
from pathlib import Path
from typing import NoReturn

from engine.contract import BaseModelUnusable, RlJob, SftJob, WorkerReady
from engine.problem import Problem
from engine.trainer.messages import Inbox, Outbox
from engine.workspace import SharedFolder, Workspace, add_workspace_arguments, workspace_at

# The server passes JSON of 1,000 levels (src/json-limits.ts), each of them a call; Python's own limit is 1,000 of all.
CALLS_MAX = 3_000


def main() -> None:
    sys.setrecursionlimit(CALLS_MAX)
    # Read when the libraries below are loaded: how long a thread of OpenMP waits for another before it sleeps. The
    # default is so long that a step takes several times as long beside other programs (docs/decisions/0009).
    os.environ.setdefault("GOMP_SPINCOUNT", "3000")
    arguments = parse_arguments()
    outbox = Outbox()
    inbox = Inbox()
    try:
        work(arguments, inbox, outbox)
    except BaseException:
        # The thread that reads stdin would delay an ordinary exit, and then have the last line of the log.
        traceback.print_exc()
        os._exit(1)


def work(arguments: argparse.Namespace, inbox: Inbox, outbox: Outbox) -> NoReturn:
    # It warns that a kernel is missing which is not used (four_bits.py).
    logging.getLogger("bitsandbytes.backends.cpu.ops").setLevel(logging.ERROR)
    # Imported after stdout was redirected, since libraries may print, and while stdin is watched, since this takes
    # seconds. Looking for garbage among all that stays would take a seventh of it.
    gc.disable()
    from engine.trainer.four_bits import leave_out_bitsandbytes

    if arguments.base_quantization == "none":
        leave_out_bitsandbytes()
    from engine.trainer.answers import Answers
    from engine.trainer.errors import explain, may_pass
    from engine.trainer.followers import start_ranks
    from engine.trainer.model import load_base

    gc.freeze()
    gc.enable()
    try:
        workspace = workspace_of(arguments)
        ranks, followers = start_ranks(arguments.rank, arguments.processes, arguments.port)
        try:
            base = load_base(
                arguments.base_model,
                arguments.base_model_id,
                arguments.gradient_checkpointing,
                arguments.metric_passes,
                ranks,
                arguments.base_quantization,
                arguments.max_model_len,
            )
        except Problem as error:
            if not may_pass(error):
                outbox.send(BaseModelUnusable(kind="base_model_unusable", error_message=str(error)))
            raise
    except Exception as error:
        # The last line of the log is read first.
        print(f"The trainer cannot start: {explain(error)}", file=sys.stderr, flush=True)
        os._exit(1)
    outbox.send(
        WorkerReady(
            kind="worker_ready",
            base_model=base.name,
            device=str(base.device),
            dtype=str(base.dtype).removeprefix("torch."),
        )
    )
    answers = Answers(base, followers, workspace, inbox, outbox)
    while True:
        request, cancelled = inbox.next()
        if isinstance(request, RlJob | SftJob):
            answers.train(request, cancelled)
        else:
            answers.answer(request)


def workspace_of(arguments: argparse.Namespace) -> Workspace:
    # Ranks that another started get paths of this machine from it.
    if arguments.rank > 0:
        return SharedFolder(Path())
    return workspace_at(arguments.workspace, arguments.workspace_copies)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m engine.main")
    parser.add_argument("--base-model", required=True, help="folder or Hugging Face id of the base model")
    parser.add_argument("--base-model-id", default="heddle/loom-tiny", help="the name that adapters record")
    parser.add_argument(
        "--base-quantization",
        choices=("none", "nf4"),
        default="none",
        help="nf4: the base's linear layers are in 4 bits; adapters as ever",
    )
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
        "--max-model-len", type=int, help="that of vLLM, by which it chooses the positions of models with LongRoPE"
    )
    add_workspace_arguments(parser)
    parser.add_argument(
        "--processes", type=int, default=1, help="that train together, each on its own GPU; this one starts the others"
    )
    parser.add_argument("--rank", type=int, default=0, help="set by the process that starts the others")
    parser.add_argument("--port", type=int, help="of that process, likewise")
    return parser.parse_args()


if __name__ == "__main__":
    main()
