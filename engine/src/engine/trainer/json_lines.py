"""Lines of JSON that clients wrote."""

import json
from typing import Any


def parse_line(line: bytes) -> Any:
    """Raises ValueError, which says what is wrong, and RecursionError. Integers too long for Python become floats."""
    try:
        return json.loads(line)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"it is not JSON ({error}); write one JSON object a line") from error
    except ValueError:
        # Of all other integers, parsing them here would take several times as long.
        return json.loads(line, parse_int=number_of)


def number_of(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:
        return float(digits)
