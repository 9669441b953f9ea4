"""Text to vectors: local, OpenAI-compatible, or none. Vectors of different models never mix."""
