"""A tool with which a model brings back what a context left out: its definition, and what it does.

A model can't run `foreword recall`, which the marks in a context name; it can call this. Whatever a
model asks for, the handler answers in words and within a budget, and never raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from foreword.context.recall import marked_page
from foreword.engine.package import Package
from foreword.errors import ForewordError, UnknownHandle
from foreword.pattern import lazy_pattern
from foreword.session.workflow_state import WorkflowState
from foreword.store import originals

NAME = "recall"
# Of an answer, where nobody says: a long page, and a quarter of a small window of 8,000.
ANSWER_TOKENS = 2_000
# By a handle, and by a question as well where there is a session to ask.
HANDLE_DESCRIPTION = (
    "Bring back text that was left out of this conversation. Marks such as"
    " 'foreword recall fw_0123456789abcd' stand where something is missing: give the handle"
    " (fw_...). A long text comes in pages; its last line says the offset of the next one."
)
DESCRIPTION = (
    f"{HANDLE_DESCRIPTION} Or ask a question: what was said about it comes back word for word,"
    " summed up messages included."
)
HANDLE_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "handle": {"type": "string", "description": "The handle of a mark: fw_..."},
        "offset": {"type": "integer", "description": "From which character on; 0 at first."},
    },
}
QUESTION = {"type": "string", "description": "What to look for, instead of a handle."}
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {**HANDLE_PARAMETERS["properties"], "question": QUESTION},
}
_HANDLE = lazy_pattern(r"fw_[0-9a-f]+")


@dataclass(frozen=True, slots=True)
class RecallTool:
    """A recall tool of one session; `definition, handler = session.recall_tool()` works, too."""

    handler: Callable[..., str]
    name: str = NAME
    description: str = DESCRIPTION

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON Schema of what it takes."""
        return {**PARAMETERS}

    @property
    def definition(self) -> dict[str, Any]:
        """As Anthropic's API takes it."""
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": self.parameters,
        }

    def to_openai(self) -> dict[str, Any]:
        """As OpenAI's chat API takes it."""
        return {"type": "function", "function": self.to_gemini()}

    def to_responses(self) -> dict[str, Any]:
        """As OpenAI's Responses API takes it."""
        return {"type": "function", **self.to_gemini()}

    def to_gemini(self) -> dict[str, Any]:
        """As Gemini takes it, among `functionDeclarations`."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }

    def __call__(self, **arguments: Any) -> str:
        """What the handler answers."""
        return self.handler(**arguments)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.definition, self.handler))


def recall_tool(
    state: WorkflowState, budget: int, ask: Callable[[str, int], Package]
) -> RecallTool:
    """The tool of a workflow's store, whose answers have at most so many tokens; `ask` is how a
    question is answered within a budget."""

    def handler(
        handle: object = "", offset: object = 0, question: object = "", **others: object
    ) -> str:
        is_question = isinstance(question, str) and question.strip()
        if is_question and not _HANDLE.search(str(handle)):
            return _said_about(str(question), budget, ask)
        return _page(state, str(handle), offset, budget)

    return RecallTool(handler)


def _said_about(question: str, budget: int, ask: Callable[[str, int], Package]) -> str:
    try:
        found = ask(question, budget).text
    except ForewordError as error:
        return f"Nothing was recalled: {error.message}."
    return found or "Nothing was said about that."


def _page(state: WorkflowState, asked: str, offset: object, budget: int) -> str:
    """The page that was asked for, or what is wrong with the handle, in words for a model."""
    found = _HANDLE.search(asked)
    if found is None:
        return (
            "Nothing was recalled: give the handle of a mark, such as fw_0123456789abcd, or a"
            " question."
        )
    start = offset if isinstance(offset, int) else 0
    try:
        original = read_original(state, found[0])
        return marked_page(original, start, budget)
    except UnknownHandle:
        return f"Nothing is kept under {found[0]}."
    except ForewordError as error:
        return f"Nothing was recalled: {error.message}."


def read_original(state: WorkflowState, handle: str) -> str:
    """The original under a handle in a workflow's own store; secrets of the workflow are hidden."""
    original = originals.read_one(state.db, handle)
    text = original.decode("utf-8", "replace")
    return state.secrets().hide_known_values(text)
