"""Messages in the shapes of providers, files and the store, without loss."""

from foreword.formats.anthropic import from_anthropic, to_anthropic, to_anthropic_request
from foreword.formats.detection import read_message, read_messages
from foreword.formats.gemini import from_gemini, to_gemini, to_gemini_request
from foreword.formats.openai_chat import from_openai, to_openai
from foreword.formats.openai_responses import from_responses, to_responses
from foreword.formats.pydantic_ai import from_pydantic_ai, to_pydantic_ai
from foreword.formats.record import from_record, to_record
from foreword.formats.transcripts import Transcript, read_transcript

__all__ = [
    "Transcript",
    "from_anthropic",
    "from_gemini",
    "from_openai",
    "from_pydantic_ai",
    "from_record",
    "from_responses",
    "read_message",
    "read_messages",
    "read_transcript",
    "to_anthropic",
    "to_anthropic_request",
    "to_gemini",
    "to_gemini_request",
    "to_openai",
    "to_pydantic_ai",
    "to_record",
    "to_responses",
]
