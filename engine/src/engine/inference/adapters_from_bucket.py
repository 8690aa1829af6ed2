"""vLLM's `/v1/load_lora_adapter` with a `lora_path` in the bucket of the workspace: `s3://…/adapters/DIGEST`.

The adapter is copied to a folder of this machine, from which vLLM reads it, also later: it keeps fewer adapters in
memory than it lists. Names are digests, so a copy never has to be replaced. vLLM finds this as a plugin, in each of its
processes, by the entry point in `heddle_engine-0.1.0.dist-info`.
"""

import asyncio
import os
import time
from collections import OrderedDict, defaultdict
from http import HTTPStatus
from pathlib import Path
from typing import Any

from engine.problem import Problem
from engine.workspace import BUCKET, default_copies_folder

# Set by engine.serve, or by hand for a vLLM that was started otherwise.
WORKSPACE, COPIES = "HEDDLE_WORKSPACE_ADDRESS", "HEDDLE_WORKSPACE_COPIES"

FOLDER = "adapters/"

# Requests that began before an adapter was unloaded may still read it.
KEPT_S = 600.0
KEPT_MAX = 64

# The server gives up after a minute.
OUTAGE_S = 30.0


def register() -> None:
    """May be called more than once."""
    from vllm.entrypoints.openai.models.serving import OpenAIServingModels as Models

    load, unload = Models.load_lora_adapter, Models.unload_lora_adapter
    if getattr(load, "is_of_bucket", False):
        return
    adapters = Adapters()

    async def load_lora_adapter(models: Any, request: Any, *rest: Any, **named: Any) -> Any:
        if not request.lora_path.startswith(BUCKET) or request.lora_name in models.lora_requests:
            return await load(models, request, *rest, **named)
        try:
            path = await adapters.copied(request.lora_name, request.lora_path)
        except (Problem, OSError) as error:
            return refused(f"The adapter was not copied: {error}")
        answer = await load(models, request.model_copy(update={"lora_path": str(path)}), *rest, **named)
        if request.lora_name not in models.lora_requests:
            await adapters.unloaded(request.lora_name)
        return answer

    async def unload_lora_adapter(models: Any, request: Any) -> Any:
        answer = await unload(models, request)
        if request.lora_name not in models.lora_requests:
            await adapters.unloaded(request.lora_name)
        return answer

    load_lora_adapter.is_of_bucket = True  # pyright: ignore[reportFunctionMemberAccess]
    setattr(Models, load.__name__, load_lora_adapter)
    setattr(Models, unload.__name__, unload_lora_adapter)


def refused(message: str) -> Any:
    from vllm.entrypoints.serve import create_error_response

    status = HTTPStatus.INTERNAL_SERVER_ERROR
    return create_error_response(message=message, err_type="InternalServerError", status_code=status)


class Adapters:
    """The copies of one API server."""

    def __init__(self) -> None:
        self._bucket: Any = None
        # By the name under which each is loaded: the name of its folder in the workspace.
        self._loaded: dict[str, str] = {}
        # Folders, and since when nothing is loaded from them; the oldest first.
        self._unloaded: OrderedDict[str, float] = OrderedDict()
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def copied(self, name: str, address: str) -> Path:
        folder = self._folder_of(address)
        async with self._locks[folder]:
            path = await asyncio.to_thread(self._open().fetch, folder)
        self._unloaded.pop(folder, None)
        self._loaded[name] = folder
        return path

    async def unloaded(self, name: str) -> None:
        folder = self._loaded.pop(name, None)
        if folder is not None and folder not in self._loaded.values():
            self._unloaded[folder] = time.monotonic()
        await self._forget_old()

    async def _forget_old(self) -> None:
        while self._unloaded:
            folder, since = next(iter(self._unloaded.items()))
            if len(self._unloaded) <= KEPT_MAX and time.monotonic() - since < KEPT_S:
                return
            del self._unloaded[folder]
            async with self._locks[folder]:
                if folder not in self._loaded.values():
                    await asyncio.to_thread(self._open().forget, folder)
            if folder not in self._loaded.values():
                self._locks.pop(folder, None)

    def _folder_of(self, address: str) -> str:
        root = os.environ.get(WORKSPACE)
        if not root:
            raise Problem(f"{address} is in a bucket: start engine.serve with --workspace, or vLLM with {WORKSPACE}")
        folder = address.removeprefix(root.rstrip("/") + "/")
        if not folder.startswith(FOLDER):
            raise Problem(f"{address} is not among the adapters of {root}")
        return folder

    def _open(self) -> Any:
        """With the first adapter: vLLM forks its engine before."""
        if self._bucket is None:
            from engine.bucket import Bucket

            copies = Path(os.environ.get(COPIES) or default_copies_folder())
            self._bucket = Bucket(os.environ[WORKSPACE], copies, OUTAGE_S)
        return self._bucket
