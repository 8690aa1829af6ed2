"""Chat templates that come with a request, rendered with limits in a fork of vLLM's API server (docs/decisions/0010).

vLLM would render them in the server's own process, where one template can stop every other request. vLLM finds this
as a plugin, in each of its processes, by the entry point in `heddle_engine-0.1.0.dist-info`.
"""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from jinja2 import TemplateError
from vllm.exceptions import QueueOverflowError, VLLMValidationError
from vllm.renderers.hf import HfRenderer
from vllm.renderers.params import ChatParams
from vllm.renderers.registry import RENDERER_REGISTRY

from engine.inference.fork import Fork, ForkFailed, NoFork
from engine.template import TOKENIZER_ARGUMENTS

SECONDS_MAX = 2.0  # real templates take milliseconds, also on a machine that trains meanwhile
MEMORY_MIB_MAX = 256  # a request's body has 64 MiB at most, and its text is copied a few times
MESSAGE_CHARS_MAX = 2000  # of a template's own words in an error
WAIT_S_MAX = 30.0  # for other templates and its own; as long as vLLM waits for any rendering


def register() -> None:
    """May be called more than once."""
    for mode, place in RENDERER_REGISTRY.renderers.items():
        if place == (HfRenderer.__module__, HfRenderer.__name__):
            RENDERER_REGISTRY.renderers[mode] = (Renderer.__module__, Renderer.__name__)


class Renderer(HfRenderer):
    """vLLM's own, but for requests that bring a template."""

    def __init__(self, config: Any, tokenizer: Any) -> None:
        super().__init__(config, tokenizer)
        self.fork = Fork(self.answer, seconds=SECONDS_MAX, memory_mib=MEMORY_MIB_MAX)
        self.turns = ThreadPoolExecutor(1, "chat-template")

    async def render_messages_async(self, messages: list[Any], params: ChatParams) -> tuple[list[Any], Any]:
        kwargs = {name: value for name, value in params.chat_template_kwargs.items() if name not in TOKENIZER_ARGUMENTS}
        kwargs["tokenize"] = False
        template = params.chat_template or kwargs.get("chat_template")
        if template is None:
            return await super().render_messages_async(messages, replace(params, chat_template_kwargs=kwargs))
        # Lists that were not read yet are iterators.
        request = json.dumps([messages, template, params.chat_template_content_format, kwargs], default=list)
        answer = await self.answer_in_turn(request.encode())
        if "error" in answer:
            raise VLLMValidationError(answer["error"], parameter=answer["parameter"])
        return answer["conversation"], answer["prompt"]

    async def answer_in_turn(self, request: bytes) -> dict[str, Any]:
        try:
            async with asyncio.timeout(WAIT_S_MAX):
                turn = asyncio.get_running_loop().run_in_executor(self.turns, self.fork.ask, request)
                return json.loads(await turn)
        except (TimeoutError, NoFork):
            raise QueueOverflowError from None
        except ForkFailed as failure:
            raise VLLMValidationError(f"The chat template {failure}", parameter="chat_template") from None

    def answer(self, request: bytes) -> bytes:
        """In the fork: the conversation and its prompt, or the error in the request."""
        try:
            messages, template, content_format, kwargs = json.loads(request)
            conversation, prompt = self.render_messages(messages, ChatParams(template, content_format, kwargs))
            if prompt.keys() != {"prompt"}:
                raise VLLMValidationError("A chat template in a request works with text alone")
            return json.dumps({"conversation": conversation, "prompt": prompt}).encode()
        except Exception as error:
            return json.dumps(described(error)).encode()


def described(error: Exception) -> dict[str, str | None]:
    # vLLM wraps what a template raises while it runs, but not what is wrong with its syntax.
    reason = error.__cause__ or error
    of_template = reason is not error or isinstance(reason, (TemplateError, RecursionError, MemoryError))
    message = str(error.args[0]) if error.args else repr(error)
    if isinstance(reason, MemoryError):
        message = f"The chat template took more than {MEMORY_MIB_MAX} MiB of memory"
    parameter = "chat_template" if of_template else getattr(error, "parameter", None)
    return {"error": message[:MESSAGE_CHARS_MAX], "parameter": parameter}
