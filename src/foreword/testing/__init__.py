"""Fakes for tests, yours and ours. A fake speaks its provider's wire format over real HTTP.

`fake_provider` is a server on loopback that answers OpenAI's `/chat/completions` and `/responses`,
Anthropic's `/v1/messages` and Gemini's `:generateContent`, streamed or whole, as a test tells it
to: texts, tool calls, errors, delays, broken connections.

    from foreword.models import ask
    from foreword.testing import Reply, fake_provider

    with fake_provider([Reply(status=529), "hello"]) as provider:
        answer = ask(provider.anthropic, "Be brief.", "Say hello.")
    assert (answer.text, answer.attempts) == ("hello", 2)

`prefix_breaks` names what the requests of a conversation changed of earlier ones: the thinking that
a provider would refuse, and the prompt cache that would be missed.
"""

from foreword.testing.prefix_checks import PrefixBreak, prefix_breaks
from foreword.testing.provider import FakeProvider, fake_provider
from foreword.testing.replies import Reply, Script, ToolCall

__all__ = [
    "FakeProvider",
    "PrefixBreak",
    "Reply",
    "Script",
    "ToolCall",
    "fake_provider",
    "prefix_breaks",
]
