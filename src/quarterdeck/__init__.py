"""Quarterdeck: a terminal deck for agent conversation services."""

__version__ = "0.1.0"
