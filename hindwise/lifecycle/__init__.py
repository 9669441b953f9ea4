"""How does a memory age, expire, get archived? Pure functions of the memory, the rules and the time."""
