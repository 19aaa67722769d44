"""Messages in the shapes of providers, files and the store, without loss."""

from foreword.shapes.anthropic import from_anthropic, to_anthropic, to_anthropic_request
from foreword.shapes.openai_chat import from_openai, to_openai
from foreword.shapes.openai_responses import from_responses, to_responses
from foreword.shapes.pydantic_ai import from_pydantic_ai, to_pydantic_ai
from foreword.shapes.reading import read_message, read_messages
from foreword.shapes.record import from_record, to_record
from foreword.shapes.transcripts import Transcript, read_transcript

__all__ = [
    "Transcript",
    "from_anthropic",
    "from_openai",
    "from_pydantic_ai",
    "from_record",
    "from_responses",
    "read_message",
    "read_messages",
    "read_transcript",
    "to_anthropic",
    "to_anthropic_request",
    "to_openai",
    "to_pydantic_ai",
    "to_record",
    "to_responses",
]
