"""What keeps Temporal, worker and API running as children of `hindwise up`. Light on purpose: it imports none of them."""
