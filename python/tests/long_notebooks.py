"""Executes the notebooks, each in a fresh kernel; a cell that raises is a failure.

Run by `make test-python-long`; needs nbclient, ipykernel, matplotlib.
"""
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"


def main():
    failed = 0
    for path in sorted(FOLDER.glob("*.ipynb")):
        begin = time.time()
        notebook = nbformat.read(path, as_version=4)
        client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(FOLDER)}})
        try:
            client.execute()
            print(f"{path.name}: {time.time() - begin:.1f} s")
        except CellExecutionError as error:
            failed += 1
            print(f"{path.name}: {error}")
    print("ok" if failed == 0 else f"{failed} notebooks failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
