"""How does a draft meet what is already known? Pure functions: values in, decisions out, the time passed in."""
