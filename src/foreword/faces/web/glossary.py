"""Words of the page that a stranger may not know, and what they mean: one wording for every
view."""

from __future__ import annotations

from collections.abc import Iterable

FORMS = {
    "full": "all of it, word for word",
    "core": "the part that its author marked as the core",
    "header": "its opening lines: who this is and what it looks for",
    "summary": "its headings, and the sentences that carry most",
    "relevant": "the passages nearest to the task",
    "newest": "its newest entries",
    "excerpt": "some of it word for word, a mark or a summary for the rest",
    "regions": "the regions of a file that the task is about, with their lines",
    "outline": "the definitions of a file, with their lines",
    "lead": "its first sentence and a mark for the rest",
    "reference": "one line that says how to get it",
    "gone": "not in this call at all",
    "mixed": "several pieces, not all in the same form",
}
PARTS = {
    "tool_definitions": "the definitions of the functions that it may call, sent beside the text",
    "system_prompt": "what the agent is told to be and to do",
    "current_plan": "its to-do list, as it stands now",
    "workflow_snapshot": "the workflow that it builds, node by node",
    "workflow_variables": "values that it keeps between calls",
    "browser_state": "the web page that it has open",
    "conversation_history": (
        "what was said and what tools answered; a summary in place of what was compressed"
    ),
}


def meanings_of(words: dict[str, str], used: Iterable[str]) -> dict[str, str]:
    """The meanings of those that are in use, each once, in the order of the glossary."""
    names = set(used)
    return {name: meaning for name, meaning in words.items() if name in names}
