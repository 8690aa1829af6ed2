"""The trainer worker: one base model in memory, requests in on stdin, messages out on stdout (see messages.py).

python -m engine.main --base-model engine/models/loom-tiny
"""

import argparse
import sys
import traceback
from pathlib import Path

from engine.contract import AdapterCreated, CreateAdapter, RequestFailed, WorkerReady
from engine.messages import Cancelled, Inbox, Outbox, Report


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m engine.main")
    parser.add_argument("--base-model", required=True, help="folder or Hugging Face id of the base model")
    parser.add_argument("--base-model-id", default="heddle/loom-tiny", help="the name that adapters record")
    arguments = parser.parse_args()

    outbox = Outbox()
    inbox = Inbox()
    # Imported after stdout is taken, since libraries may print, and while stdin is watched, since this takes seconds.
    from engine import rl
    from engine.model import create_adapter, load_base

    base = load_base(arguments.base_model, arguments.base_model_id)
    outbox.send(
        WorkerReady(
            kind="worker_ready",
            base_model=base.name,
            device=str(base.device),
            dtype=str(base.dtype).removeprefix("torch."),
        )
    )
    while True:
        request = inbox.next()
        if isinstance(request, CreateAdapter):
            try:
                create_adapter(base, request.lora, Path(request.output_dir))
                outbox.send(
                    AdapterCreated(kind="adapter_created", request_id=request.request_id, directory=request.output_dir)
                )
            except Exception as error:
                outbox.send(
                    RequestFailed(kind="request_failed", request_id=request.request_id, error_message=explain(error))
                )
            continue
        report = Report(request.job_id, outbox, inbox.cancelled(request.job_id))
        try:
            rl.train(base, request, report)
        except Cancelled:
            report.cancelled()
        except Exception as error:
            report.failed(explain(error))
        inbox.close_job(request.job_id)


def explain(error: Exception) -> str:
    """One line for the user; where it happened goes to the log. Any error ends only its own request."""
    traceback.print_exception(error, file=sys.stderr)
    if isinstance(error, KeyError):
        return f"a required field is missing: {error}"
    return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    main()
