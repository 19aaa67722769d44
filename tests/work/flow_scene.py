"""A project with a flow of five phases, two of them side by side, and a provider that knows
which phase asks."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import foreword
from foreword.store import artifacts
from foreword.store.urls import open_database
from foreword.testing import Reply

PHASES = ("1", "2", "3a", "3b", "4")
ARTIFACTS = {"1": "FEAT-1", "2": "FEAT-2", "3a": "FEAT-3", "3b": "FEAT-4", "4": "FEAT-5"}
DIFF = Path(foreword.__file__).parent / "demos" / "factory" / "change.diff"
_PHASE = re.compile(r"Do phase (\w+) of this work")


def project(folder: Path) -> Path:
    """A project of a user's own."""
    root = folder / "tidepool"
    shutil.copytree(Path(foreword.__file__).parent / "demos" / "factory", root)
    return root


@dataclass(slots=True)
class Agent:
    """What a provider says; every answer is different, so that the second to a phase can be told
    from the first."""

    replies: dict[str, Callable[[], str | Reply]] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    texts: dict[str, list[str]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def __call__(self, body: Mapping[str, Any]) -> str | Reply:
        phase = phase_of(body)
        with self.lock:
            self.asked[phase] += 1
            text = f"What phase {phase} hands on, answer number {sum(self.asked.values())}."
            self.texts.setdefault(phase, []).append(text)
        return self.replies[phase]() if phase in self.replies else text


def phase_of(body: Mapping[str, Any]) -> str:
    """The phase that a request to a provider is for."""
    found = _PHASE.search(json.dumps(body))
    return found[1] if found else "panel"


def artifact_texts(root: Path, db: str | None, run: str) -> dict[str, str]:
    """The artifacts of a run: name and text."""
    with closing(open_database(db, root)) as store:
        found = artifacts.artifacts_of(store, run)
        return {artifact.name: artifacts.text_of(store, artifact) for artifact in found}


def checkpoints(root: Path, task: str) -> dict[str, dict[str, Any]]:
    """The checkpoints of a task as their files have them, by phase."""
    by_phase = {}
    for file in root.rglob(f"{task}-phase-*.json"):
        data = json.loads(file.read_bytes())
        by_phase[data["phase"]] = data
    return by_phase


def workflow(root: Path, name: str, **phases: str) -> str:
    """Write a workflow: of each phase what it waits for, with blanks between, `gate` and `panel`
    among it if wanted."""
    parts = [f"# Workflow: {name}"]
    for key, words in phases.items():
        parts.append(_phase_text(key.removeprefix("p"), words.split()))
    file = root / "prompts" / "workflows" / f"{name}.md"
    file.write_text("\n\n".join(parts) + "\n")
    return name


def _phase_text(phase: str, words: list[str]) -> str:
    names = [word.removeprefix("p") for word in words if word not in ("gate", "panel")]
    after = ", ".join(f"Phase {name}" for name in names)
    lines = [f"<!-- PHASE:{phase} -->", f"## Phase {phase}: Part {phase}", ""]
    lines.append(f"Depends on: {after or 'nothing'}")
    if "panel" in words:
        lines.append("Panel: [code-review](../../personas/round_tables/code-review.md)")
    lines += ["", f"Do part {phase}.", "", f"**Artifact:** [PART-{phase}] the part", ""]
    if "gate" in words:
        lines += ["**Gate:** it is good.", ""]
    lines.append(f"<!-- /PHASE:{phase} -->")
    return "\n".join(lines)
