"""GitHub, behind a port."""
