"""The command `rattleback`, which the package carries."""
from __future__ import annotations

import os
import shutil
import sys


def command() -> str:
    """Path of the command: RATTLEBACK_COMMAND, that of the package, or one on the PATH."""
    given = os.environ.get("RATTLEBACK_COMMAND")
    own = os.path.join(os.path.dirname(__file__), "bin", "rattleback")
    found = given or (own if os.path.exists(own) else None) or shutil.which("rattleback")
    if not found:
        raise FileNotFoundError("the command rattleback is not there: install the package with pip, "
                                "or set RATTLEBACK_COMMAND")
    return found


def main() -> None:
    path = command()
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
