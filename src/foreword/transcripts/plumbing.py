"""Tell the words of a coding agent's program from those of its user and its model.

The only place that decides it, in two steps. What the program put into a request (instructions,
reminders, the names and the output of its own commands) was read by the model and said by nobody:
a note. What it recorded only for itself was read by no model: plumbing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from foreword.messages.message import Message, edit
from foreword.messages.parts import Part, Text
from foreword.pattern import lazy_pattern
from foreword.transcripts.events import AGENT_NOTES, MessageEvent, NoteEvent, Values

# Attachments for which Claude Code writes nothing into a request, by the functions that render them
# in its version 2.1.327. `prompt_snapshot` repeats the system prompt and every tool: tens of
# thousands of tokens each time.
_UNSENT = frozenset(
    (
        *("advisor_stripped", "already_read_file", "async_hook_response_batch"),
        *("batching_reminder_sent", "command_permissions", "credential_org"),
        *("deferred_tools_record", "edited_image_file", "goal_status", "hook_cancelled"),
        *("hook_deferred_tool", "hook_error_during_execution", "hook_non_blocking_error"),
        *("hook_permission_decision", "hook_system_message", "max_turns_reached"),
        *("message_pdf_reads", "project_doc_reads", "projects_thread_ask", "prompt_as_file"),
        *("prompt_render_point", "prompt_snapshot", "secondary_reminder_sent"),
        *("session_cron_carry", "structured_output", "teammate_shutdown_batch", "thinking_drop"),
        *("thinking_stripped", "tool_host_result_lines", "tool_results_cut"),
        *("whole_texts_withdrawn", "withheld_memory"),
    )
)
_SUCCESS = "hook_success"
# Of a hook that succeeded, `content` is sent after these events; its `stdout` never is.
_SENT_AFTER = ("SessionStart", "UserPromptSubmit")
# Fields of an attachment or a block that are about it: types, ids, bytes in base64.
_NO_WORDS = frozenset(
    (
        *("type", "role", "id", "uuid", "toolUseID", "tool_use_id", "hookName", "hookEvent"),
        *("displayPath", "data", "signature", "encrypted_content", "media_type"),
    )
)
# Blocks that the program puts before the user's words. Their tags have a `-` or a `_` in them, as
# no tag of HTML has, so markup that a user typed stays the user's.
_BLOCK = lazy_pattern(
    r"\s*(?:# AGENTS\.md instructions for [^\n]*\n\s*<INSTRUCTIONS>.*?</INSTRUCTIONS>"
    r"|<(?P<tag>[A-Za-z]+[-_][\w-]*)(?: [^>\n]*)?>.*?</(?P=tag)>)",
    re.DOTALL,
)
_NOTE = lazy_pattern(
    r"\s*(?:\[Request interrupted|Caveat: The messages below|<(?:session|environment)_context>)"
)
# Claude Code writes the first as a paragraph before each summary, the second after it.
_BEFORE_SUMMARY = "This session is being continued from a previous conversation"
_AFTER_SUMMARY = "\nIf you need specific details from before compaction"


def without_program_words(summary: str) -> str:
    """Return a summary as the model wrote it."""
    if summary.startswith(_BEFORE_SUMMARY):
        summary = summary.partition("\n\n")[2] or summary
    own, found, _ = summary.partition(_AFTER_SUMMARY)
    return own.rstrip() if found else summary


def attachment_note(attachment: Values) -> NoteEvent:
    """Return what an attachment of Claude Code brought into a request, if anything."""
    kind = str(attachment.get("type", "attachment"))
    event = str(attachment.get("hookEvent") or attachment.get("hookName") or "")
    source = f"hook {event}".strip() if kind.startswith("hook") else kind.replace("_", " ")
    text = words_of(attachment)
    if kind == _SUCCESS:
        text = words_of(attachment.get("content")) if event in _SENT_AFTER else ""
    is_plumbing = kind in _UNSENT or not text
    return NoteEvent(kind="attachment", source=source, text=text, is_plumbing=is_plumbing)


def attributed(event: MessageEvent) -> Iterator[MessageEvent | NoteEvent]:
    """Yield what a recorded message says in its speaker's own words, and what the program says in
    it as notes."""
    message = event.message
    if event.is_plumbing:
        return
    if event.source:
        yield _note(event.source, message.text)
        return
    if message.role != "user" or message.kind != "conversation":
        yield event
        return
    parts = list[Part]()
    by_user = False
    for part in message.parts:
        if isinstance(part, Text):
            notes, words = _split(part.text)
            yield from notes
            if not words:
                continue
            part = part if words == part.text else edit(part, text=words)
            by_user = True
        parts.append(part)
    if parts:
        said = edit(message, parts=tuple(parts)) if tuple(parts) != message.parts else message
        yield replace(event, message=said, by_user=by_user)


def is_typed(message: Message) -> bool:
    """Return whether a message has words that a person typed."""
    return any(isinstance(part, Text) and _split(part.text)[1] for part in message.parts)


def _split(text: str) -> tuple[list[NoteEvent], str]:
    """Return the blocks that the program put before the words, and the words."""
    notes = list[NoteEvent]()
    while block := _BLOCK.match(text):
        source = (block["tag"] or "agents md").replace("-", " ").replace("_", " ")
        notes.append(_note(source, block[0].strip()))
        text = text[block.end() :]
    if _NOTE.match(text):
        notes.append(_note(AGENT_NOTES, text.strip()))
        text = ""
    return notes, text.strip()


def _note(source: str, text: str) -> NoteEvent:
    return NoteEvent(kind="", source=source, text=text, is_plumbing=False)


def words_of(value: object) -> str:
    """Return every text in a value, one a line, without ids and data."""
    return "\n".join(_texts(value))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, member in value.items():
            if name not in _NO_WORDS:
                yield from _texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member)
