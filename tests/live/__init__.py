"""Tests on real servers: `pytest -m live`, with the servers in QUARTERDECK_LIVE_URL or QUARTERDECK_LIVE_URLS."""
