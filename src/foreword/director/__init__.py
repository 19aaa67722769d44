"""The workflow director: nodes that work in a real browser, their runs, and the agent that
builds them."""

from foreword.director.agent import TurnResult
from foreword.director.director import Director

__all__ = ["Director", "TurnResult"]
