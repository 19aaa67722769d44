"""A loop of one's own with `openai` (chat completions) and a hard budget."""

from __future__ import annotations

import json
from tempfile import TemporaryDirectory
from typing import Any

import openai
from practice import BUDGET, SYSTEM, TOOLS, WINDOW, finish, question, reply, turns

import foreword
from foreword.integrations.providers import openai_request
from foreword.testing import fake_provider


def main() -> None:
    with fake_provider(reply) as provider, TemporaryDirectory() as folder:
        client = openai.OpenAI(base_url=f"{provider.url}/v1", api_key="none")
        session = foreword.Session.open(
            f"sqlite:///{folder}/chat.db", root=folder, recipe="chat", budget=BUDGET, window=WINDOW
        )
        recall = session.recall_tool()
        read_log = {
            "name": "read_log",
            "description": "Read the kiln's log of a day.",
            "parameters": {"type": "object", "properties": {"day": {"type": "integer"}}},
        }
        tools = [{"type": "function", "function": read_log}, recall.to_openai()]
        handlers = {**TOOLS, recall.name: recall.handler}
        messages: list[Any] = [{"role": "system", "content": SYSTEM}]
        for turn in range(turns()):
            messages.append({"role": "user", "content": question(turn)})
            while True:
                completion = client.chat.completions.create(
                    **openai_request(session, model="your-model", tools=tools, messages=messages)
                )
                answer = completion.choices[0].message
                messages.append(answer)
                for call in answer.tool_calls or ():
                    text = handlers[call.function.name](**json.loads(call.function.arguments))
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
                if not answer.tool_calls:
                    break
        finish(provider, session)
        session.close()


if __name__ == "__main__":
    main()
