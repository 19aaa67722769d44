"""Reviewing a change: panels, what their members found, and the verdict. Plain values and their
rules."""
