"""The memory: what was recorded, and what was learned from it."""
