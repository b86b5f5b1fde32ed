"""Live state without a user interface: records by id, polling, state changes, filters, plans for bulk commands.

Words used throughout: a *reading* is the result of one poll of the server; a *row* is one line of a list; *quiet* means
that nothing has happened for a while. A state is *in transition* while a start, pause, resume or deletion is under way.
"""
