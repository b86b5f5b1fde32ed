"""The client of an agent conversation service: httpx and pydantic, nothing of ours."""
