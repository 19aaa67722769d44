"""A loop of one's own over litellm with a hard budget: one callback more."""

from __future__ import annotations

import json
from tempfile import TemporaryDirectory
from typing import Any

import litellm
from practice import BUDGET, SYSTEM, TOOLS, WINDOW, finish, question, reply, turns

import foreword
from foreword.integrations.litellm import ForewordCallback
from foreword.testing import fake_provider


def main() -> None:
    with fake_provider(reply) as provider, TemporaryDirectory() as folder:
        session = foreword.Session.open(
            f"sqlite:///{folder}/chat.db", root=folder, recipe="chat", budget=BUDGET, window=WINDOW
        )
        read_log = {
            "name": "read_log",
            "description": "Read the kiln's log of a day.",
            "parameters": {"type": "object", "properties": {"day": {"type": "integer"}}},
        }
        tools = [{"type": "function", "function": read_log}]
        litellm.callbacks = [ForewordCallback(session, tools=tools)]
        messages: list[Any] = [{"role": "system", "content": SYSTEM}]
        for turn in range(turns()):
            messages.append({"role": "user", "content": question(turn)})
            while True:
                completion = litellm.completion(
                    "openai/your-model",
                    messages,
                    tools=tools,
                    prompt_id="main",
                    api_base=f"{provider.url}/v1",
                    api_key="none",
                )
                answer = completion.choices[0].message
                messages.append(answer)
                for call in answer.tool_calls or ():
                    text = TOOLS[call.function.name](**json.loads(call.function.arguments))
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
                if not answer.tool_calls:
                    break
        finish(provider, session)
        session.close()


if __name__ == "__main__":
    main()
