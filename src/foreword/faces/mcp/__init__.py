"""Foreword as an MCP server: tools, resources and prompts over stdio or streamable HTTP."""
