"""`python -m hindwise.cli`: how the supervisor starts its children with the same interpreter."""

from hindwise.cli import main

main()
