"""A loop of one's own with `anthropic`, tools and a hard budget, against a model on loopback."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import Any

import anthropic
from practice import BUDGET, SYSTEM, TOOLS, WINDOW, finish, question, reply, turns

import foreword
from foreword.integrations.providers import anthropic_request
from foreword.testing import fake_provider


def main() -> None:
    with fake_provider(reply) as provider, TemporaryDirectory() as folder:
        client = anthropic.Anthropic(base_url=provider.url, api_key="none")
        session = foreword.Session.open(
            f"sqlite:///{folder}/chat.db", root=folder, recipe="chat", budget=BUDGET, window=WINDOW
        )
        recall = session.recall_tool()
        tools = [
            {
                "name": "read_log",
                "description": "Read the kiln's log of a day.",
                "input_schema": {"type": "object", "properties": {"day": {"type": "integer"}}},
            },
            recall.definition,
        ]
        handlers = {**TOOLS, recall.name: recall.handler}
        messages: list[Any] = []
        for turn in range(turns()):
            messages.append({"role": "user", "content": question(turn)})
            while True:
                answer = client.messages.create(
                    **anthropic_request(
                        session,
                        model="your-model",
                        max_tokens=500,
                        system=SYSTEM,
                        tools=tools,
                        messages=messages,
                    )
                )
                messages.append(answer)
                results = []
                for block in answer.content:
                    if block.type == "tool_use":
                        text = handlers[block.name](**block.input)
                        results.append(
                            {"type": "tool_result", "tool_use_id": block.id, "content": text}
                        )
                if not results:
                    break
                messages.append({"role": "user", "content": results})
        finish(provider, session)
        session.close()


if __name__ == "__main__":
    main()
