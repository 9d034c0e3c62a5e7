"""A stand-in for GitHub on loopback: for the demo and for the tests, from one place."""
