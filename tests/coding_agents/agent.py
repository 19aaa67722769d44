"""A coding agent's side of things: a home with a project and a transcript, and events as they
were recorded."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foreword.coding_agents.templates import text
from tests.command import CommandResult, foreword

DATA = Path(__file__).parents[1] / "data" / "hooks"
RECORDED_HOME = "/home/ada"
SESSION = "00893aaf-19fa-41d2-8238-13269b9b3ca0"
SECRET = "QmFzZTY0U2VjcmV0VGhhdE11c3ROb3RMZWFr"


@dataclass(frozen=True, slots=True)
class CodingAgent:
    """A coding agent, by the folders it works in."""

    home: Path

    @property
    def project(self) -> Path:
        return self.home / "tidepool"

    @property
    def transcript(self) -> Path:
        return self.home / ".claude" / "projects" / "-home-ada-tidepool" / f"{SESSION}.jsonl"

    @property
    def log(self) -> str:
        path = self.home / ".cache" / "foreword" / "hook.log"
        return path.read_text("utf-8") if path.exists() else ""

    def event(self, name: str, **changed: Any) -> bytes:
        """A recorded event, as if it had happened here."""
        recorded = (DATA / f"{name}.json").read_text("utf-8")
        data = json.loads(recorded.replace(RECORDED_HOME, str(self.home)))
        return json.dumps({**data, **changed}).encode()

    def hook(self, stdin: bytes, *options: str, **env: str) -> CommandResult:
        patient = ("--timeout", "60")  # the machine may be busy
        return foreword(
            "hook",
            *patient,
            *options,
            cwd=self.project,
            stdin=stdin,
            **{"HOME": str(self.home), **env},
        )

    def answer(self, name: str, *options: str, **changed: Any) -> dict[str, Any]:
        """What the hook says to a recorded event."""
        ran = self.hook(self.event(name, **changed), *options)
        assert (ran.code, ran.err, self.log) == (0, "", "")
        output: dict[str, Any] = json.loads(ran.out)["hookSpecificOutput"] if ran.out else {}
        return output


def set_up(home: Path) -> CodingAgent:
    """A project with a recipe and rules, and the transcript of a session in it."""
    agent = CodingAgent(home)
    recipes = agent.project / "foreword" / "recipes"
    recipes.mkdir(parents=True)
    (recipes / "coding.yaml").write_text(text("coding.yaml"), "utf-8")
    (agent.project / "AGENTS.md").write_text("# Rules\n\nNever push to main.\n", "utf-8")
    (agent.project / "README.md").write_text(
        "# Tidepool\n\nTells harbours when the tide turns.\n", "utf-8"
    )
    agent.transcript.parent.mkdir(parents=True)
    agent.transcript.write_bytes((DATA / "transcript.jsonl").read_bytes())
    return agent
