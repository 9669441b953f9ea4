"""What people may ask of their own memory: erasure, with a receipt."""
