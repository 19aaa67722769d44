"""Sessions that coding agents have left in files: who said what, each call of the model with what
it read from a cache, each compaction with its summary.

Claude Code, Codex, opencode and Gemini CLI, one module each; `reader` tells them apart,
`session_places` knows where they are kept. Read as a stream and leniently: a line that can't be
read is counted.
"""

from foreword.agent_sessions.events import (
    AgentEvent,
    AttachmentEvent,
    CompactionEvent,
    MessageEvent,
    ModelCallEvent,
    SessionHead,
)
from foreword.agent_sessions.reader import SessionFile, open_session

__all__ = [
    "AgentEvent",
    "AttachmentEvent",
    "CompactionEvent",
    "MessageEvent",
    "ModelCallEvent",
    "SessionFile",
    "SessionHead",
    "open_session",
]
