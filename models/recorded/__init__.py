"""What was recorded: tables and queries."""
