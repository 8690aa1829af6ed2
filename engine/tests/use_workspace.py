"""Reads and writes folders of a workspace as engines do, for tests of the server.

python use_workspace.py s3://bucket/prefix LOCAL read outputs/1 file
python use_workspace.py s3://bucket/prefix LOCAL write outputs/1 '{"file": "text"}'
"""

import json
import sys
from pathlib import Path

from engine.workspace import workspace_at


def main() -> None:
    address, local, action, folder, what = sys.argv[1:]
    workspace = workspace_at(address, Path(local))
    if action == "read":
        sys.stdout.write((workspace.fetch(folder) / what).read_text())
        return
    path = workspace.place(folder)
    path.mkdir(parents=True)
    for name, text in json.loads(what).items():
        (path / name).write_text(text)
    workspace.publish(folder)


if __name__ == "__main__":
    main()
