"""Real servers for tests, benches and `make cluster`: found, started, killed and started again on loopback."""
