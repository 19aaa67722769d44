"""Listen to an answer as it comes: pass its text on, and leave one that does not end."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable
from typing import Any

from foreword.errors import ModelFailed
from foreword.models.model_errors import FAILED

# Characters: text that has more of them than the limit in tokens allows is past it. Tokens are
# about 4 characters; the rest is for code and spaces, since an answer must not be left too early.
LONGEST_TOKEN = 16
# Where nobody has set a limit: a bound on memory and on the bill, far above a usual answer.
LONGEST_ANSWER_TOKENS = 250_000


class StreamReader:
    """Passes the text of a stream on, and leaves a stream that does not end."""

    def __init__(self, on_text: Callable[[str], None], max_output_tokens: int | None) -> None:
        self._on_text = on_text
        self._limit_tokens = max_output_tokens or LONGEST_ANSWER_TOKENS
        self._chars = 0
        self.broken: Exception | None = None  # by the caller's own function

    async def __call__(self, context: object, events: AsyncIterable[Any]) -> None:
        async for event in events:
            text = _text_of(event)
            if not text:
                continue
            self._chars += len(text)
            if self._chars > self._limit_tokens * LONGEST_TOKEN:
                raise ModelFailed(
                    f"{FAILED}: its answer did not end at {self._limit_tokens:,} tokens"
                )
            self._pass_on(text)

    def begin_again(self) -> None:
        """Say that what was passed on so far is void."""
        if self._chars:
            self._chars = 0
            self._pass_on("")

    def _pass_on(self, text: str) -> None:
        try:
            self._on_text(text)
        except Exception as error:
            self.broken = error
            raise


def _text_of(event: Any) -> str:
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

    match event:
        case (
            PartStartEvent(part=TextPart(content=text))
            | PartDeltaEvent(delta=TextPartDelta(content_delta=text))
        ):
            return text
        case _:
            return ""
