"""What may enter, what must be masked, whom do we believe? Pure functions over text and values; no I/O."""
