"""The ledger's history of shapes, forward only."""
