"""One way to call a model, over pydantic-ai: `ask` a question, or make one request and get a
`ModelReply`.

A model is a name (`anthropic:claude-sonnet-5-5`, `openai:gpt-5`, anything pydantic-ai knows), a
server that speaks OpenAI's format (`openai:NAME@http://127.0.0.1:8080/v1`), a pydantic-ai model
object, or `test`, which needs neither key nor network. What is asked, and what becomes of the
answer, is the caller's business.
"""

from foreword.models.answer import Answer, calibrate, usage_pair
from foreword.models.ask import ask
from foreword.models.request import ModelReply, ToolSpec, reply

__all__ = ["Answer", "ModelReply", "ToolSpec", "ask", "calibrate", "reply", "usage_pair"]
