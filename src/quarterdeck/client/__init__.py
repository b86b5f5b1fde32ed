"""The client of an agent conversation service: httpx and pydantic, independent of the other packages."""
