"""Hindsight for AI agents: what is known, how it is kept, judged and told."""
