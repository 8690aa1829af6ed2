"""What is said to fit, before anything starts."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from examples import LOOM_TINY

from engine.fits import KNOWN, TOKENS_MAX, fit, table
from engine.memory import GIB, PROCESS_BYTES, Shape, training

SOURCE = Path(__file__).parents[1] / "src"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Without the engine's packages: it runs before they are installed."""
    command = [sys.executable, "-S", "-m", "engine.fits", *arguments]
    return subprocess.run(command, env={"PYTHONPATH": str(SOURCE)}, capture_output=True, text=True, check=False)


def test_the_table_of_the_docs() -> None:
    assert "\n".join(table()) in (SOURCE.parents[1] / "docs" / "GPUS.md").read_text()


@pytest.mark.parametrize("four_bit", [False, True])
@pytest.mark.parametrize("gpus", [1, 8])
@pytest.mark.parametrize("name", KNOWN)
def test_the_longest_sequence_just_fits(name: str, gpus: int, four_bit: bool) -> None:
    shape = Shape.of(KNOWN[name])
    longest = fit(shape, 80, gpus, four_bit=four_bit).longest_trained
    room = 80 * GIB - PROCESS_BYTES
    assert longest == 0 or training(shape, longest, gpus=gpus, four_bit=four_bit).peak <= room
    assert longest == TOKENS_MAX or training(shape, longest + 1, gpus=gpus, four_bit=four_bit).peak > room


def test_several_gpus_train_what_one_does_not() -> None:
    shape = Shape.of(KNOWN["72B"])
    assert fit(shape, 80, 1).longest_trained == 0
    assert fit(shape, 80, 8).longest_trained > 8192


def test_a_model_by_its_config() -> None:
    found = json.loads(run("--config", str(LOOM_TINY / "config.json"), "--gpu-gb", "24").stdout)
    assert found["longest_trained_tokens"] == TOKENS_MAX
    assert found["cached_tokens"] > 1_000_000


def test_a_model_in_4_bits_by_its_config(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(KNOWN["14B"]))
    arguments = ("--config", str(tmp_path / "config.json"), "--gpu-gb", "24")
    assert json.loads(run(*arguments).stdout)["longest_trained_tokens"] == 0
    found = json.loads(run(*arguments, "--quantization", "nf4").stdout)
    assert found["longest_trained_tokens"] > 8192
    assert found["cached_tokens"] > 32_768
    assert found["weights_gib"] < 12


def test_a_model_whose_blocks_would_be_cut_is_not_served_in_4_bits() -> None:
    """29,568 inputs are 462 blocks of 64, which two GPUs share, and eight do not."""
    shape = Shape.of(KNOWN["72B"])
    assert fit(shape, 80, 2, four_bit=True).cached > 0
    assert fit(shape, 80, 8, four_bit=True).cached == 0 < fit(shape, 80, 8).cached


def test_what_is_not_computed_is_named(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps({**KNOWN["7B"], "num_experts": 64}))
    found = run("--config", str(config))
    assert found.returncode == 1
    assert "describes no decoder that is computed here: 'num_experts'" in found.stderr
    assert "cannot be read" in run("--config", str(tmp_path / "absent")).stderr
