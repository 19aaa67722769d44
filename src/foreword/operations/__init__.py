"""What agents may ask for, JSON to JSON; HTTP, MCP and the director are layers over it."""
