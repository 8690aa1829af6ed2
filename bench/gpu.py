# pyright: reportMissingImports=false
"""
What training takes on a GPU, for models of published shapes with random weights: one job for each length of sequences,
with the time of a gradient step and the most memory of tensors, beside what engine/src/engine/memory.py computes; what
is left while the trainer sleeps; one update of TRL's GRPOTrainer beside Heddle's, with the same number of tokens; and
how long vLLM starts, sleeps and wakes.

Runs in the engine's environment, without a server. Each model is measured in a process of its own. Sizes are in GiB,
times in seconds.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import torch
from engine.contract import RlJob
from engine.fits import KNOWN
from engine.memory import GIB, NF4_TRAINED_BYTES, Shape, training, weights_bytes
from engine.trainer import base_on_device, rl
from engine.trainer.messages import Report
from engine.trainer.model import BaseModel, create_adapter, load_base
from examples import LOOM_TINY, TARGETS, choice, group, lora, rl_config, trajectory, user
from safetensors.torch import save_file  # pyright: ignore[reportUnknownVariableType]
from serving import request
from transformers import AutoConfig, AutoModelForCausalLM

from report import console, show_table, write_json
from tasks import Sums

ROOT = Path(__file__).resolve().parent.parent
NAME = "bench/random"
CONTEXT = 2**17
STEPS = 3  # of each length; the first one waits for kernels to be chosen
DEVIATION = 0.02  # of random weights, as models are initialised
LOGPROB = -11.9  # of any token, to a model that knows nothing

# What TRL and Heddle are compared with.
PROMPTS, ROLLOUTS, ANSWER_TOKENS = 8, 8, 256
LEARNING_RATE = 1e-5

PORT, KEY = 18_475, "bench"
SERVING_SHARE = 0.85  # of the GPU's memory, for vLLM

Json = dict[str, Any]
COLUMNS = ("gib", "computed_gib", "reserved_gib", "s", "job_s")


def write_model(shape: str, folder: Path) -> None:
    """A model with random weights in bfloat16, in one file for each layer, and the small model's tokenizer."""
    config = AutoConfig.for_model(
        **{"model_type": "qwen2", "max_position_embeddings": CONTEXT, "eos_token_id": 2, "pad_token_id": 0}
        | KNOWN[shape],
        architectures=["Qwen3ForCausalLM" if "model_type" in KNOWN[shape] else "Qwen2ForCausalLM"],
        dtype="bfloat16",
    )
    folder.mkdir(parents=True)
    config.save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        shutil.copy(LOOM_TINY / name, folder)
    with torch.device("meta"):
        model: Any = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    of_file: dict[str, dict[str, torch.Tensor]] = {}
    for name, parameter in model.named_parameters():
        parts = name.split(".")
        layer = parts[2] if parts[1] == "layers" else "rest"
        of_file.setdefault(f"model-{layer}.safetensors", {})[name] = parameter
    for file, parameters in of_file.items():
        save_file({name: drawn(name, one) for name, one in parameters.items()}, folder / file, {"format": "pt"})
    where = {name: file for file, names in of_file.items() for name in names}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": where}))


def drawn(name: str, parameter: torch.Tensor) -> torch.Tensor:
    if "norm" in name:
        return torch.ones(parameter.shape, dtype=torch.bfloat16)
    weights = DEVIATION * torch.randn(parameter.shape, dtype=torch.bfloat16, device="cuda")
    return weights.cpu()


@dataclass
class Kept:
    """Takes the place of the pipe to the server: the messages of a job, and when they came."""

    messages: list[tuple[float, Any]]

    def send(self, message: Any) -> None:
        self.messages.append((time.monotonic(), message))

    def seconds(self, first: str, last: str) -> float:
        times = {kind: [at for at, message in self.messages if message.kind == kind] for kind in (first, last)}
        return times[last][-1] - times[first][0]

    def step_s(self) -> float:
        """Of a gradient step, the median of all but the first."""
        ended = [at for at, message in self.messages if message.kind == "gradient_step"]
        return median(after - before for before, after in pairwise(ended))


def run_job(base: BaseModel, folder: Path, groups: list[Json], **config: Any) -> Kept:
    """One job from a fresh adapter."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    create_adapter(base, lora(), folder / "step-0")
    data = folder / "groups"
    data.write_text("".join(json.dumps(group) + "\n" for group in groups))
    job = RlJob(
        kind="rl_job",
        job_id="job",
        checkpoint_dir=str(folder / "step-0"),
        output_dir=str(folder / "step-1"),
        work_dir=str(folder / "work"),
        model="heddle/bench/model",
        policy_step=0,
        reference_dir=None,
        trajectory_groups_path=str(data),
        config=rl_config(learning_rate=LEARNING_RATE, **config),
    )
    kept = Kept([])
    pipe: Any = kept
    report = Report(job.job_id, pipe, lambda: False)
    report.progress("loading", 0, 1)
    report.saved(job.output_dir, rl.train(base, job, report))
    return kept


def attempts(question: str, count: int, num_tokens: int, rng: random.Random, vocabulary: int) -> Json:
    """A group of random answers of `num_tokens` tokens each."""
    answers = [[rng.randrange(3, vocabulary) for _ in range(num_tokens)] for _ in range(count)]
    return group(
        [
            trajectory([user(question), choice(answer, LOGPROB)], float(number % 2))
            for number, answer in enumerate(answers)
        ]
    )


def allocated() -> float:
    return torch.cuda.memory_allocated() / GIB


def of_process() -> float:
    """GiB of the GPU that are not PyTorch's: the contexts of CUDA and its libraries, of all processes."""
    free, total = torch.cuda.mem_get_info()
    return (total - free - torch.cuda.memory_reserved()) / GIB


def measured(model: Path, quantization: Any, lengths: list[int], compare: bool) -> Iterator[Json]:
    """Runs in the process of one model."""
    started = time.monotonic()
    base = load_base(str(model), NAME, quantization=quantization)
    four_bit = quantization == "nf4"
    shape = Shape.of(json.loads((model / "config.json").read_text()))
    computed = weights_bytes(shape, linear=NF4_TRAINED_BYTES if four_bit else None)
    yield {"of": "weights", "s": time.monotonic() - started, "gib": allocated(), "computed_gib": computed / GIB}
    rng = random.Random(1)
    vocabulary = len(base.tokenizer)
    for length in lengths:
        torch.cuda.reset_peak_memory_stats()
        # A row has as many tokens as the longest sequence: one attempt.
        groups = [attempts("What is 17 + 25?", STEPS, length - 64, rng, vocabulary)]
        job = run_job(base, model.with_name("job"), groups, packed_sequence_length=length)
        checkpointed = base.keep(length) == "inputs"
        expected = training(shape, length, rank=lora().rank, four_bit=four_bit, checkpointed=checkpointed)
        yield {
            "of": f"{length:,} tokens, layers run {'twice' if checkpointed else 'once'}",
            "s": job.step_s(),
            "gib": torch.cuda.max_memory_allocated() / GIB,
            "reserved_gib": torch.cuda.max_memory_reserved() / GIB,
            "computed_gib": expected.peak / GIB,
            "job_s": job.seconds("job_progress", "checkpoint_saved"),
        }
    if compare:
        yield from updates(base, model, vocabulary)
    yield {"of": "CUDA and its libraries", "gib": of_process(), "computed_gib": 2.0}
    taken, started = allocated(), time.monotonic()
    base_on_device.leave(base)
    yield {"of": "asleep", "s": time.monotonic() - started, "gib": allocated()}
    started = time.monotonic()
    base_on_device.come_back(base)
    yield {"of": "awake again", "s": time.monotonic() - started, "gib": allocated(), "computed_gib": taken}


def updates(base: BaseModel, model: Path, vocabulary: int) -> Iterator[Json]:
    rng = random.Random(1)
    for _ in range(STEPS):
        torch.cuda.reset_peak_memory_stats()
        questions = Sums().draw(rng, PROMPTS)
        groups = [attempts(one.question, ROLLOUTS, ANSWER_TOKENS, rng, vocabulary) for one in questions]
        job = run_job(base, model.with_name("job"), groups, gradient_steps=1)
        yield {
            "of": f"update by Heddle, {PROMPTS} x {ROLLOUTS} answers of {ANSWER_TOKENS} tokens",
            "s": job.seconds("training_started", "gradient_step"),
            "gib": torch.cuda.max_memory_allocated() / GIB,
            "job_s": job.seconds("job_progress", "checkpoint_saved"),
        }


def updates_of_trl(model: Path) -> Iterator[Json]:
    options = {
        "model": model,
        "output-dir": model.with_name("trl"),
        "steps": STEPS,
        "prompts-per-step": PROMPTS,
        "rollouts-per-prompt": ROLLOUTS,
        "answer-tokens": ANSWER_TOKENS,
        "learning-rate": LEARNING_RATE,
        "rank": lora().rank,
        "alpha": lora().alpha,
        "seed": 0,
    }
    flags = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    command = [sys.executable, str(ROOT / "bench/trl_side.py"), *flags, "--target-modules", *TARGETS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as trl:
        assert trl.stdin and trl.stdout
        trl.stdout.readline()
        for _ in range(STEPS):
            started = time.monotonic()
            trl.stdin.write("step\n")
            trl.stdin.flush()
            told = json.loads(trl.stdout.readline())
            yield {
                "of": f"update by TRL, answers of {told['tokens']:.0f} tokens on average",
                "s": time.monotonic() - started - told["rollouts"],
                "gib": told.get("peak_gib"),
            }


def serving(model: Path, quantization: str, eager: bool) -> Iterator[Json]:
    """vLLM as the server starts it, alone on the GPU."""
    flags = ["--model", str(model), "--served-model-name", NAME, "--port", str(PORT), "--max-model-len", "16384"]
    flags += ["--base-quantization", quantization, "--gpu-memory", str(SERVING_SHARE), "--sleep-level", "1"]
    command = [sys.executable, "-m", "engine.serve", *flags, *(["--", "--enforce-eager"] if eager else [])]
    free_before = free_gib()
    started = time.monotonic()
    # The end of its standard input ends it. Only those with its key may put it to sleep.
    environment = os.environ | {"VLLM_API_KEY": KEY}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=sys.stderr, env=environment) as vllm:
        while True:
            if vllm.poll() is not None:
                sys.exit("vLLM has ended")
            try:
                if request("GET", "/health", port=PORT)[0] == 200:
                    break
            except OSError:
                time.sleep(0.2)
        yield {"of": "vLLM starts", "s": time.monotonic() - started, "gib": free_before - free_gib()}
        yield timed("vLLM answers 8 tokens", "/v1/completions", free_before)
        for _ in range(2):
            yield timed("vLLM falls asleep", "/heddle/sleep", free_before)
            yield timed("vLLM wakes", "/heddle/wake", free_before)
            yield timed("vLLM answers 8 tokens", "/v1/completions", free_before)


def timed(what: str, path: str, free_before: float) -> Json:
    started = time.monotonic()
    body = {"model": NAME, "prompt": "a", "max_tokens": 8, "ignore_eos": True}
    status, _ = request("POST", path, body, PORT, KEY, timeout=600)
    if status != 200:
        sys.exit(f"{what}: status {status}")
    return {"of": what, "s": time.monotonic() - started, "gib": free_before - free_gib()}


def free_gib() -> float:
    return torch.cuda.mem_get_info()[0] / GIB


def measure(given: argparse.Namespace, shape: str) -> Iterator[Json]:
    folder = given.folder / shape
    model = folder / "model"
    if not model.exists():
        write_model(shape, model)
    options = ["--of", str(model), "--tokens", *(str(length) for length in given.tokens)]
    options += ["--quantization", given.quantization, *(["--compare"] if shape in given.trl else [])]
    command = [sys.executable, __file__, *options]
    if given.tokens or shape in given.trl:
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout
            yield from (json.loads(line) for line in child.stdout if line.startswith("{"))
        if child.returncode:
            sys.exit(f"the measurement of {shape} ended with status {child.returncode}")
    if shape in given.trl:
        yield from updates_of_trl(model)
    if shape in given.serve:
        yield from serving(model, given.quantization, given.eager)
    if not given.keep:
        shutil.rmtree(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shapes", nargs="+", choices=sorted(KNOWN), default=["0.5B", "14B"])
    parser.add_argument(
        "--tokens", nargs="*", type=int, default=[2048, 8192, 32768], help="lengths of sequences; none: no trainer"
    )
    parser.add_argument("--quantization", choices=("none", "nf4"), default="none")
    parser.add_argument("--trl", nargs="*", default=["0.5B"], help="shapes that TRL's GRPOTrainer trains as well")
    parser.add_argument("--serve", nargs="*", default=["14B"], help="shapes that vLLM serves as well")
    parser.add_argument("--eager", action="store_true", help="vLLM without compiled kernels and graphs")
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm/heddle-bench-gpu"), help="for the models")
    parser.add_argument("--keep", action="store_true", help="leave the models there, and use those that are")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--of", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--compare", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.of is not None:
        for line in measured(given.of, given.quantization, given.tokens, compare=given.compare):
            print(json.dumps(line), flush=True)
        return
    if not torch.cuda.is_available():
        sys.exit(f"PyTorch {torch.__version__} of {sys.executable} sees no GPU")
    found: dict[str, list[Json]] = {}
    for shape in given.shapes:
        found[shape] = []
        for line in measure(given, shape):
            numbers = "  ".join(f"{name} {line[name]:.3f}" for name in COLUMNS if line.get(name) is not None)
            console.print(f"{shape}: {line['of']}: {numbers}", highlight=False)
            found[shape].append(line)
        console.print(f"\n{shape}, base in {'4 bits' if given.quantization == 'nf4' else 'bfloat16'}")
        names = ["", "GiB", "computed", "reserved", "s", "whole job, s"]
        show_table(names, [[line["of"], *(line.get(column) for column in COLUMNS)] for line in found[shape]])
    write_json(given.json, {"gpu": torch.cuda.get_device_name(), "quantization": given.quantization, "found": found})


if __name__ == "__main__":
    main()
