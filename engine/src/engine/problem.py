class Problem(Exception):
    """Its text is written for the user."""


def one_line(error: BaseException) -> str:
    """Its text, or its type where it has none."""
    return " ".join(str(error).split()) or type(error).__name__
