"""How is a memory found again? One interface; the ledger has the last word on everything found."""
