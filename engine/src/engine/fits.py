"""What fits on which GPUs, before anything starts: arithmetic of memory.py, from a model's config.json alone.

python -m engine.fits --config engine/models/loom-tiny/config.json --gpu-gb 80 --gpus 1
python -m engine.fits --table
"""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.memory import GIB, NF4_SERVED_BYTES, PROCESS_BYTES, Shape, training, unpacked_bytes, weights_bytes

TOKENS_MAX = 2**17
# vLLM sizes its cache by what is left of this share of a GPU.
SERVING_SHARE = 0.9
# Published shapes: Qwen2.5's, and Qwen3's for 14B.
KNOWN: dict[str, dict[str, Any]] = {
    "0.5B": {"hidden_size": 896, "num_hidden_layers": 24, "intermediate_size": 4864, "num_attention_heads": 14,
             "num_key_value_heads": 2, "vocab_size": 151936, "tie_word_embeddings": True},
    "1.5B": {"hidden_size": 1536, "num_hidden_layers": 28, "intermediate_size": 8960, "num_attention_heads": 12,
             "num_key_value_heads": 2, "vocab_size": 151936, "tie_word_embeddings": True},
    "7B": {"hidden_size": 3584, "num_hidden_layers": 28, "intermediate_size": 18944, "num_attention_heads": 28,
           "num_key_value_heads": 4, "vocab_size": 152064},
    "14B": {"model_type": "qwen3", "hidden_size": 5120, "num_hidden_layers": 40, "intermediate_size": 17408,
            "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936},
    "32B": {"hidden_size": 5120, "num_hidden_layers": 64, "intermediate_size": 27648, "num_attention_heads": 40,
            "num_key_value_heads": 8, "vocab_size": 152064},
    "72B": {"hidden_size": 8192, "num_hidden_layers": 80, "intermediate_size": 29568, "num_attention_heads": 64,
            "num_key_value_heads": 8, "vocab_size": 152064},
}  # fmt: skip
MACHINES = ((24, 1), (48, 1), (80, 1), (80, 8))


@dataclass(frozen=True)
class Fit:
    """Tokens; 0 where the weights alone do not fit."""

    longest_trained: int  # of a sequence, on all GPUs together (FSDP) and without an inference server on them
    cached: int  # of all requests together, without a trainer on these GPUs


def fit(shape: Shape, gpu_gb: float, gpus: int, *, rank: int = 8, four_bit: bool = False) -> Fit:
    """`gpus` serve together (tensor parallel), or train together (FSDP)."""
    room = gpu_gb * GIB - PROCESS_BYTES
    weights = weights_bytes(shape, linear=NF4_SERVED_BYTES if four_bit else None)
    left = SERVING_SHARE * room - (weights + unpacked_bytes(shape, four_bit=four_bit)) / gpus
    # Keys and values in two bytes each; every GPU has a part of the heads.
    token = 2 * 2 * shape.keys * shape.layers / gpus
    if four_bit and not shape.has_whole_blocks(gpus):
        left = 0
    return Fit(
        longest_trained=most(
            lambda tokens: training(shape, tokens, rank=rank, gpus=gpus, four_bit=four_bit).peak <= room
        ),
        cached=max(0, int(left / token)),
    )


def most(fits: Callable[[int], bool]) -> int:
    """The largest number of tokens for which it fits, by halves; 0 for none."""
    low, high = 0, TOKENS_MAX + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def table() -> list[str]:
    """For docs/GPUS.md."""
    names = [f"{gpus} x {gb} GB" if gpus > 1 else f"{gb} GB" for gb, gpus in MACHINES]
    lines = [f"| | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    for name, config in KNOWN.items():
        for four_bit in (False, True):
            found = [fit(Shape.of(config), gb, gpus, four_bit=four_bit) for gb, gpus in MACHINES]
            cells = [f"{thousands(one.longest_trained)} / {thousands(one.cached)}" for one in found]
            lines.append(f"| {name}{', 4 bits' if four_bit else ''} | {' | '.join(cells)} |")
    return lines


def thousands(tokens: int) -> str:
    if tokens == 0:
        return "-"
    return f"{tokens // 1000:,}k" if tokens >= 1000 else str(tokens)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m engine.fits")
    parser.add_argument("--config", type=Path, help="config.json of a model")
    parser.add_argument("--gpu-gb", type=float, default=80.0, help="memory of each GPU, in GiB")
    parser.add_argument("--gpus", type=int, default=1, help="that serve or train together")
    parser.add_argument("--rank", type=int, default=8, help="of the adapters")
    parser.add_argument(
        "--quantization", choices=("none", "nf4"), default="none", help="nf4: linear layers of the base are in 4 bits"
    )
    parser.add_argument("--table", action="store_true", help="print the table of docs/GPUS.md")
    arguments = parser.parse_args()
    if arguments.table:
        print("\n".join(table()))
        return
    if arguments.config is None:
        parser.error("name a --config, or --table")
    try:
        config = json.loads(arguments.config.read_text())
        shape = Shape.of({**config, **config.get("text_config", {})})
    except (OSError, ValueError) as error:
        sys.exit(f"{arguments.config} cannot be read: {error}")
    except KeyError as error:
        sys.exit(f"{arguments.config} describes no decoder that is computed here: {error}")
    four_bit = arguments.quantization == "nf4"
    found = fit(shape, arguments.gpu_gb, arguments.gpus, rank=arguments.rank, four_bit=four_bit)
    of_8k = training(shape, 8192, rank=arguments.rank, gpus=arguments.gpus, four_bit=four_bit)
    weights = weights_bytes(shape, linear=NF4_SERVED_BYTES if four_bit else None)
    answer = {
        "parameters": shape.parameters,
        "weights_gib": round(weights / GIB, 2),
        "training_8k_gib": round((of_8k.peak + PROCESS_BYTES) / GIB, 2),
        "longest_trained_tokens": found.longest_trained,
        "cached_tokens": found.cached,
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
