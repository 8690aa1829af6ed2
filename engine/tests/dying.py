"""The worker, which kills itself where a function is called for the n-th time.

python dying.py torch.optim.AdamW.step 2 --base-model engine/models/loom-tiny
"""

import itertools
import os
import pydoc
import signal
import sys
from typing import Any

from engine.main import main


def kill_at(path: str, number: int) -> None:
    owner_path, name = path.rsplit(".", 1)
    owner: Any = pydoc.locate(owner_path)
    real, calls = getattr(owner, name), itertools.count(1)

    def counted(*args: Any, **kwargs: Any) -> Any:
        if next(calls) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **kwargs)

    setattr(owner, name, counted)


if __name__ == "__main__":
    path, number = sys.argv[1:3]
    del sys.argv[1:3]
    kill_at(path, int(number))
    main()
