"""A loop of one's own with `google-genai` and a hard budget."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import Any

from google import genai
from practice import BUDGET, SYSTEM, TOOLS, WINDOW, finish, question, reply, turns

import foreword
from foreword.integrations.providers import gemini_request
from foreword.testing import fake_provider


def main() -> None:
    with fake_provider(reply) as provider, TemporaryDirectory() as folder:
        client = genai.Client(api_key="none", http_options={"base_url": provider.url})
        session = foreword.Session.open(
            f"sqlite:///{folder}/chat.db", root=folder, recipe="chat", budget=BUDGET, window=WINDOW
        )
        recall = session.recall_tool()
        read_log = {
            "name": "read_log",
            "description": "Read the kiln's log of a day.",
            "parameters": {"type": "object", "properties": {"day": {"type": "integer"}}},
        }
        config = {
            "system_instruction": SYSTEM,
            "tools": [{"function_declarations": [read_log, recall.to_gemini()]}],
            "automatic_function_calling": {"disable": True},
        }
        handlers = {**TOOLS, recall.name: recall.handler}
        contents: list[Any] = []
        for turn in range(turns()):
            contents.append({"role": "user", "parts": [{"text": question(turn)}]})
            while True:
                answer = client.models.generate_content(
                    **gemini_request(session, model="your-model", contents=contents, config=config)
                )
                contents.append(answer.candidates[0].content)
                results = []
                for call in answer.function_calls or ():
                    text = handlers[call.name](**(call.args or {}))
                    response = {"name": call.name, "response": {"output": text}}
                    if call.id:
                        response["id"] = call.id
                    results.append({"function_response": response})
                if not results:
                    break
                contents.append({"role": "user", "parts": results})
        finish(provider, session)
        session.close()


if __name__ == "__main__":
    main()
