"""How the tables came to be: one file a step, run in order by ``Database.migrate``."""
