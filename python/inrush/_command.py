"""The command `inrush`, as the package has it."""

import signal
import sys

from . import _inrush


def main() -> None:
    """Runs the command with the program's arguments, and exits with its code."""
    # The command has handlers of its own: Python's would wait until it has ended.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_inrush.main(["inrush", *sys.argv[1:]]))
