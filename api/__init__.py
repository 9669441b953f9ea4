"""The front door: HTTP in, ledger first, then a word to Temporal. Judging and keeping happen in `hindwise`."""
