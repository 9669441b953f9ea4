"""What the things are: turn, episode, outcome, memory, space, brief. Values only, frozen; no I/O."""
