"""Transcript in, drafts out: by rules or by a model, through the same validators."""
