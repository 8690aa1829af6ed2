"""The numbers of a benchmark as a table for people and as JSON for programs."""

import json
import os
import platform
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

# A table keeps its shape in a file, where there is no width to fit it into.
console = Console(width=None if Console().is_terminal else 120)

Cell = str | float | None


def show_table(columns: list[str], rows: list[list[Cell]]) -> None:
    """Columns of text to the left, of numbers to the right."""
    table = Table(box=box.SIMPLE_HEAD)
    for index, column in enumerate(columns):
        is_text = all(isinstance(row[index], str) for row in rows)
        table.add_column(column, justify="left" if is_text else "right")
    for row in rows:
        table.add_row(*(shown(cell) for cell in row))
    console.print(table)


def shown(cell: Cell) -> str:
    if cell is None:
        return ""
    return cell if isinstance(cell, str) else f"{cell:.3f}"


def write_json(path: Path | None, numbers: dict[str, Any]) -> None:
    if path is None:
        return
    machine = {"cores": os.cpu_count(), "system": platform.platform()}
    path.write_text(json.dumps({"machine": machine, **numbers}, indent=2) + "\n")
    console.print(f"written to {path}")
