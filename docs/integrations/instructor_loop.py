"""A loop of one's own with `instructor` and a hard budget."""

from __future__ import annotations

from collections.abc import Mapping
from tempfile import TemporaryDirectory
from typing import Any

import instructor
import openai
from practice import BUDGET, SYSTEM, WINDOW, finish, question, turns
from pydantic import BaseModel

import foreword
from foreword.integrations.providers import openai_request
from foreword.testing import Reply, ToolCall, fake_provider


class Entry(BaseModel):
    """What the log of a day says."""

    note: str


def reply(body: Mapping[str, Any]) -> Reply:
    """The model: it fills in the form."""
    return Reply("", [ToolCall("Entry", {"note": "Nothing out of the ordinary was noted. " * 5})])


def main() -> None:
    with fake_provider(reply) as provider, TemporaryDirectory() as folder:
        client = instructor.from_openai(
            openai.OpenAI(base_url=f"{provider.url}/v1", api_key="none")
        )
        session = foreword.Session.open(
            f"sqlite:///{folder}/chat.db", root=folder, recipe="chat", budget=BUDGET, window=WINDOW
        )
        messages: list[Any] = [{"role": "system", "content": SYSTEM}]
        for turn in range(turns()):
            messages.append({"role": "user", "content": question(turn)})
            entry = client.chat.completions.create(
                **openai_request(session, model="your-model", messages=messages),
                response_model=Entry,
            )
            messages.append({"role": "assistant", "content": entry.note})
        finish(provider, session)
        session.close()


if __name__ == "__main__":
    main()
