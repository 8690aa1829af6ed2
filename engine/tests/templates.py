"""Real chat templates, and a tokenizer that has their special tokens."""

import copy
import re
from pathlib import Path
from typing import Any

from vllm.renderers import hf as vllm_renderer

FOLDER = Path(__file__).parent / "chat_templates"
TEMPLATES = sorted(path.stem for path in FOLDER.glob("*.jinja"))


# As most families write them, DeepSeek's with a wide bar.
BAR = "[|\uff5c]"
MARKS = rf"<{BAR}[^<>'\"|\uff5c]+{BAR}>|</?(?:think|tool_call|tool_response|start_of_turn|end_of_turn)>"


def text_of(name: str) -> str:
    return (FOLDER / f"{name}.jinja").read_text()


def with_template(tokenizer: Any, template: str) -> Any:
    """The committed tokenizer with another template; what looks like a special token in it is one."""
    changed = copy.deepcopy(tokenizer)
    # vLLM remembers content formats by the tokenizer's name.
    vllm_renderer._CONTENT_FORMATS.clear()  # pyright: ignore[reportPrivateUsage]
    marks = re.findall(MARKS, template)
    changed.add_tokens(sorted({*marks} - {"<|im_start|>", "<|im_end|>"}), special_tokens=True)
    changed.add_tokens(["\n\n"])
    changed.chat_template = template
    changed.bos_token = "<|im_start|>"
    return changed
