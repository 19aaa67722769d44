"""Transcripts on the page: each is played into a session of a store that lasts as long as the page.

What the page shows of it (the monitor, the growth from call to call, the inspector) is then what it
shows of any session. The files themselves are only read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from foreword.errors import BadSource, UnknownName
from foreword.faces.cli import screen

if TYPE_CHECKING:
    from foreword.messages.message import Message
    from foreword.session.session import Session
    from foreword.transcripts.events import AgentUsage
    from foreword.transcripts.places import SessionPlace

# How many calls are made of a transcript: as many as the monitor's chart shows. One behind each
# message would take minutes for a long session and look the same.
MOST_CALLS = 200
RECIPE = "chat"
COUNTER = "o200k"  # without the margin that a budget has: sizes are for people here


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptStore:
    """Where transcripts were played into, and what their agents' providers counted, by name."""

    db: str
    agent_usage: Mapping[str, AgentUsage]


def replay(paths: Sequence[str], folder: Path) -> TranscriptStore:
    """Play the transcripts in these files and folders into a store below the folder. What is no
    transcript is told where a folder was named, and an error by itself."""
    from foreword.transcripts.places import places_below

    db = f"sqlite:///{folder}/transcripts.db"
    usage: dict[str, AgentUsage] = {}
    names = Counter[str]()
    for path in paths:
        given = Path(path)
        if not given.exists():
            raise BadSource(path, "there is no such file or folder", hint="check the name")
        places = places_below(given)
        for place in places:
            try:
                messages = _messages(place)
            except BadSource as problem:
                if given.is_file():
                    raise
                screen.say(f"left out: {problem}")
                continue
            if messages:
                name = _free_name(place, names)
                model, counted = _model_and_usage(place)
                _play(messages, model, db, folder, name)
                if counted.calls:
                    usage[name] = counted
    if not names:
        raise BadSource(
            ", ".join(paths),
            "no transcript in it",
            hint="`foreword session import --help` says what is read",
        )
    return TranscriptStore(db=db, agent_usage=usage)


def _messages(place: SessionPlace) -> list[Message]:
    from foreword.transcripts.import_file import read_transcript
    from foreword.transcripts.reader import open_decompressed

    if place.row:  # of opencode's database
        return _event_messages(place)
    with place.path.open("rb") as raw:
        name = place.path.name.removesuffix(".gz")
        try:
            return list(read_transcript(open_decompressed(raw), name))
        except (OSError, EOFError) as error:
            raise BadSource(str(place.path), f"can't be read: {error}", hint="") from None


def _event_messages(place: SessionPlace) -> list[Message]:
    from foreword.transcripts.events import MessageEvent

    with place.open() as session:
        events = session.events if session else iter(())
        return [event.message for event in events if isinstance(event, MessageEvent)]


def _model_and_usage(place: SessionPlace) -> tuple[str | None, AgentUsage]:
    """The model that most of the calls went to, where one is told and known, and what its provider
    counted."""
    from foreword.tokens import for_model
    from foreword.transcripts.events import AgentUsage, ModelCallEvent

    models = Counter[str]()
    usage = AgentUsage()
    with place.open() as session:
        for event in session.events if session else ():
            if isinstance(event, ModelCallEvent):
                usage = usage.plus(event)
                if event.model:
                    models[event.model] += 1
    for model, _ in models.most_common(1):
        try:
            for_model(model)
        except UnknownName:
            return None, usage
        return model, usage
    return None, usage


def _free_name(place: SessionPlace, names: Counter[str]) -> str:
    """The name of its file, with a number where several have it."""
    name = place.name
    for ending in (".gz", ".jsonl", ".json"):
        name = name.removesuffix(ending)
    names[name] += 1
    return name if names[name] == 1 else f"{name} ({names[name]})"


def _play(messages: list[Message], model: str | None, db: str, folder: Path, name: str) -> None:
    from foreword.session.session import Session

    step = -(-len(messages) // MOST_CALLS)
    with (
        Session.open(
            db, name, root=folder, recipe=RECIPE, model=model, counter=COUNTER, auto_compress=False
        ) as session,
        screen.progress(f"reading {name}", len(messages)) as advance,
    ):
        for start in range(0, len(messages), step):
            _play_stretch(session, messages[start : start + step])
            advance(min(start + step, len(messages)))


def _play_stretch(session: Session, messages: list[Message]) -> None:
    session.extend(messages)
    session.context()
