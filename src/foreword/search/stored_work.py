"""What a store keeps besides messages, as places to find something in: artifacts and reports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from foreword.search.index_entries import Description, EntryPlace, EntryStretch
from foreword.secrets.masking import mask
from foreword.store import artifacts, reports, search_index
from foreword.store.artifacts import Artifact
from foreword.store.database import Database
from foreword.store.search_index import ARTIFACT, REPORT, NewPassage, passages_of

# What a report says about a question is where else to look: it counts for less than the thing.
REPORT_SHARE = 4
REPORTS = "reports"  # the one source of all reports of a store


def artifact_place(db: Database) -> EntryPlace:
    """The artifacts of a store, those that are new taken in before."""
    known = {source.name: source for source in search_index.sources(db, ARTIFACT)}
    for artifact in artifacts.every_artifact(db):
        if artifact.handle not in known and not db.read_only:
            text = mask(artifacts.text_of(db, artifact))
            known[artifact.handle] = search_index.put(
                db,
                ARTIFACT,
                artifact.handle,
                stamp=artifact.created,
                about=json.dumps({"name": artifact.name, "task": artifact.task}),
                passages=[
                    NewPassage(text=part, heading=_heading(artifact)) for part in passages_of(text)
                ],
            )
    return EntryPlace(
        db=db, kind=ARTIFACT, sources=list(known.values()), describe=_describe_artifact
    )


def _heading(artifact: Artifact) -> str:
    return f"{artifact.name} {artifact.title} {artifact.task}"


def _describe_artifact(stretch: EntryStretch) -> Description:
    about = json.loads(stretch.source.about)
    return Description(
        where=f"artifact {about['name']} of {about['task']}",
        text="".join(passage.body for passage in stretch.passages),
        date=stretch.source.stamp,
        handle=stretch.source.name,
    )


def report_place(db: Database) -> EntryPlace:
    """The reports of a store, those that are new taken in before."""
    source = search_index.find_source(db, REPORT, REPORTS)
    if not db.read_only:
        with db.transaction("foreword: search reports"):
            if source is None:
                source = search_index.make_source(db, REPORT, REPORTS, stamp="")
            new = reports.reports_after(db, source.last)
            if new:
                passages = [
                    NewPassage(
                        text=_report_text(stored.report),
                        about=json.dumps({"report": stored.number, "time": stored.created}),
                    )
                    for stored in new
                ]
                source = search_index.add(db, source, passages, stamp="", last=new[-1].number)
    return EntryPlace(
        db=db,
        kind=REPORT,
        sources=[] if source is None else [source],
        describe=_describe_report,
        share_of=lambda passage: REPORT_SHARE,
    )


def _report_text(report: Mapping[str, Any]) -> str:
    """What a report is found by: for what the context was, what was in it, what was left out, and
    its warnings."""
    lines = [f"{report.get('recipe', '')}, {report.get('total_tokens', 0):,} tokens"]
    lines += [f"{row.get('tag', '')}: {row.get('source', '')}" for row in _rows(report, "sections")]
    for omission in _rows(report, "omissions"):
        what = f"left out: {omission.get('what', '')}, {omission.get('reason', '')}"
        lines.append(what)
    warnings = report.get("warnings")
    lines += map(str, warnings) if isinstance(warnings, list) else []
    return passages_of(mask("\n".join(lines)))[0]


def _rows(report: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The rows of a part of a report; a store may have been meddled with."""
    rows = report.get(name)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _describe_report(stretch: EntryStretch) -> Description:
    first = json.loads(stretch.passages[0].about)
    text = "\n".join(passage.body for passage in stretch.passages)
    return Description(
        where=f"report {first['report']}", text=f"{text}\n", date=first["time"], original=text
    )
