class Problem(Exception):
    """Its text is written for the user."""
