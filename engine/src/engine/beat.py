"""Signs of life while something takes long: a worker that is silent counts as hanging."""

from collections.abc import Callable

# Called between two parts of the work, or while it is waited for; what it raises ends that.
Beat = Callable[[], None]

# The same, with how much is done of how much.
CountedBeat = Callable[[int, int], None]

BEAT_S = 1.0  # far below the time after which a silent worker counts as hanging


def no_beat(*_: int) -> None:
    pass
