"""The MCP servers of a draft: the list being edited, its checks, its secrets, and its forms as text."""
