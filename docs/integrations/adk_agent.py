"""An agent of Google's ADK with a hard budget: one callback more."""

from __future__ import annotations

import asyncio
import os
from tempfile import TemporaryDirectory
from typing import Any

from google.adk.agents import Agent
from google.adk.models.google_llm import Gemini
from google.adk.runners import InMemoryRunner
from google.genai import types
from practice import BUDGET, SYSTEM, WINDOW, finish, question, read_log, reply, turns

import foreword
from foreword.integrations.providers import gemini_request
from foreword.testing import fake_provider


async def run() -> None:
    with fake_provider(reply) as provider, TemporaryDirectory() as folder:
        os.environ["GOOGLE_API_KEY"] = "none"
        session = foreword.Session.open(
            f"sqlite:///{folder}/chat.db", root=folder, recipe="chat", budget=BUDGET, window=WINDOW
        )

        def fit(callback_context: Any, llm_request: Any) -> None:
            fitted = gemini_request(session, contents=llm_request.contents)["contents"]
            llm_request.contents = [types.Content.model_validate(each) for each in fitted]

        agent = Agent(
            name="potter",
            model=Gemini(model="your-model", base_url=provider.url),
            instruction=SYSTEM,
            tools=[read_log],
            before_model_callback=fit,
        )
        runner = InMemoryRunner(agent)
        chat = await runner.session_service.create_session(app_name=runner.app_name, user_id="u")
        for turn in range(turns()):
            said = types.UserContent(question(turn))
            async for _ in runner.run_async(user_id="u", session_id=chat.id, new_message=said):
                pass
        finish(provider, session)
        session.close()


if __name__ == "__main__":
    asyncio.run(run())
