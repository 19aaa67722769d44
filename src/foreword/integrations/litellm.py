"""litellm: a callback that fits the messages of a completion; `prompt_id` names the conversation.

    litellm.callbacks = [ForewordCallback(budget=8_000)]
    litellm.completion(model, messages, prompt_id="chat-1")

It uses the hook that litellm has for prompt management, which runs where a call has a `prompt_id`.
The hook does not see the tools of a call, so they are given to the callback, to be counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from litellm.integrations.custom_prompt_management import CustomPromptManagement

from foreword.integrations.conversation_sessions import MAIN, Conversations
from foreword.session.session import Session

Prompt = tuple[str, list[Any], dict[str, Any]]  # model, messages, other parameters


class ForewordCallback(CustomPromptManagement):
    """Keeps completions within a budget; options are those of `Session.open`. A session that is
    given is the conversation `main`."""

    def __init__(
        self, session: Session | None = None, *, tools: Sequence[object] = (), **options: Any
    ) -> None:
        super().__init__()
        self.conversations = Conversations(session, **options)
        self._tools = tools

    @property
    def integration_name(self) -> str:
        """Its name in litellm."""
        return "foreword"

    def should_run_prompt_management(self, prompt_id: str | None, *_: Any, **__: Any) -> bool:
        """Every call that names a conversation."""
        return bool(prompt_id)

    def get_chat_completion_prompt(
        self,
        model: str,
        messages: list[Any],
        non_default_params: dict[str, Any],
        prompt_id: str | None = None,
        **_: Any,
    ) -> Prompt:
        """The call with the messages that fit, in OpenAI's shape, which litellm speaks."""
        package = self.conversations.fit(
            messages, conversation=prompt_id or MAIN, tools=self._tools
        )
        return model, package.to_openai(), non_default_params

    def log_success_event(self, kwargs: Any, response_obj: Any, *_: Any, **__: Any) -> None:
        """Count what a call of a conversation cost."""
        conversation = (kwargs.get("litellm_params") or {}).get("prompt_id")
        if conversation:
            self.conversations.record_usage([response_obj], conversation)

    async def async_log_success_event(
        self, kwargs: Any, response_obj: Any, *_: Any, **__: Any
    ) -> None:
        """The same, awaited."""
        self.log_success_event(kwargs, response_obj)

    async def async_get_chat_completion_prompt(
        self,
        model: str,
        messages: list[Any],
        non_default_params: dict[str, Any],
        prompt_id: str | None = None,
        **_: Any,
    ) -> Prompt:
        """The same, awaited."""
        return self.get_chat_completion_prompt(model, messages, non_default_params, prompt_id)
