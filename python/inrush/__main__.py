"""`python -m inrush` is the command."""

from ._command import main

main()
