"""Conversations that last: what is appended, what the next call is sent, and how a history is
compressed."""
