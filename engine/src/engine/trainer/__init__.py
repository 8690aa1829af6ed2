"""What only the trainer (main.py) loads: it makes rows of trajectories, steps of an adapter, and state on disk."""
