"""The program ``capeval``, as ``python -m capeval`` and as the command that the package installs."""

from __future__ import annotations

import os
import signal
import sys

from . import _engine


def main() -> int:
    """Runs the program with the arguments of this process, and returns its exit code."""
    # Python's own handler would only take note of Ctrl-C until the program ends.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # The program asks a Python for METEOR's data, and this one is at hand.
    os.environ.setdefault("PYTHON", sys.executable)
    # Python has no `stdout` if the caller closed it.
    return _engine.run_program(["capeval", *sys.argv[1:]], sys.stdout is not None)


if __name__ == "__main__":
    sys.exit(main())
