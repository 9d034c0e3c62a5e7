"""The door: everything with an address, nothing that judges."""
