"""The workflow director: nodes that work in a real browser, their runs, and the agent that
builds them."""

from foreword.director.agent import Turn
from foreword.director.director import Director

__all__ = ["Director", "Turn"]
