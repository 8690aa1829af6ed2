import os

# The tests need no network: everything they load lies in this repository.
os.environ["HF_HUB_OFFLINE"] = "1"

from typing import Any, cast

import pytest
from examples import LOOM_TINY
from transformers import AutoTokenizer

from engine.model import BaseModel, load_base


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    return cast(Any, AutoTokenizer.from_pretrained(LOOM_TINY))


@pytest.fixture(scope="session")
def base() -> BaseModel:
    return load_base(str(LOOM_TINY), "heddle/loom-tiny")
