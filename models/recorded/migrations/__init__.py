"""How the tables came to be: one file a step, run in order by ``Database.migrate``.

A new step is ``versions/vNNNN_what_it_does.py``, written by hand, with a data file ``tests/migrations/NNNN.sql`` that
holds rows as they were before the next one. A test compares the outcome of all steps with ``tables.py``.
"""
