"""Recorded exchanges with real servers, and for each the operation that makes its request and what becomes of it."""
