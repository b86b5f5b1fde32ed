"""What is kept on this machine from one run to the next, and nothing a server should hold.

No secret is in it but those of parked MCP servers, and these only where somebody said yes to it.
"""
