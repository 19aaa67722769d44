"""`foreword autopsy` on a small session whose figures were worked out by hand."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from foreword.autopsy import SessionFinding, examine
from foreword.transcripts.places import places_below
from tests.command import foreword

SECRET = "sk-ant-api03-QmFzZTY0U2VjcmV0VGhhdE11c3ROb3RMZWFrQmFzZTY0U2VjcmV0VGhhdE11c3RObw"
SUMMARY = (
    "Heights were converted in tides/metres.py by `to_metres`. The user said"
    ' "always round to two digits". Run `make tidetables` next.'
)


def line(role: str, *blocks: dict[str, Any] | str, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": one} if isinstance(one, str) else one for one in blocks]
    message: dict[str, Any] = {"role": role, "content": content, **more.pop("message", {})}
    return {"type": role, "sessionId": "s-1", "cwd": "/home/ada/tides", "message": message, **more}


def call(call_id: str, tool: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": tool, "input": arguments}


def result(call_id: str, text: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": text}


def usage(name: str, new: int, cached: int, time: str) -> dict[str, Any]:
    counts = {"input_tokens": new, "cache_read_input_tokens": cached, "output_tokens": 9}
    return {"message": {"id": name, "model": "m", "usage": counts}, "timestamp": time}


LINES = [
    line("user", "Convert the heights to metres, please."),
    line(
        "assistant",
        call("1", "Read", file_path="/home/ada/tides/station_table.py"),
        **usage("m1", 10_000, 0, "2026-11-17T10:00:00Z"),
    ),
    line("user", result("1", f"FEET_PER_METRE = 3.28084\nkey = {SECRET}\n" + "x = 1\n" * 100)),
    line("assistant", call("2", "Bash", command="pytest tests/test_heights.py -q")),
    line("user", result("2", "3 failed, 1289 passed in run_7f3a")),
    line(
        "assistant",
        "to_metres is in tides/metres.py; station_five is the one in feet. 1289 pass.",
        **usage("m2", 1_000, 10_000, "2026-11-17T10:01:00Z"),
    ),
    {"type": "system", "subtype": "compact_boundary", "compactMetadata": {"preTokens": 11_000}},
    line("user", SUMMARY, isCompactSummary=True),
    line("user", "Go on with the harbour_list."),
    line(
        "assistant",
        "I check station_five and harbour_list against 1289 with to_metres.",
        call("3", "Read", file_path="/home/ada/tides/station_table.py"),
        **usage("m3", 4_000, 0, "2026-11-17T10:02:00Z"),
    ),
    line("user", result("3", "FEET_PER_METRE = 3.28084\n" + "x = 1\n" * 100)),
    line(
        "assistant",
        "FEET_PER_METRE is right.",
        call("4", "Bash", command="pytest tests/test_heights.py -q"),
        **usage("m4", 500, 4_000, "2026-11-17T10:03:00Z"),
    ),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "sessions" / "s-1.jsonl.gz"
    file.parent.mkdir()
    text = "".join(json.dumps(one) + "\n" for one in LINES)
    file.write_bytes(gzip.compress(text.encode()))
    return file


def found_in(path: Path) -> SessionFinding:
    (place,) = places_below(path)
    with place.open() as session:
        assert session is not None
        return examine(session)


def test_what_was_needed_later_and_was_in_no_summary_is_lost(path: Path) -> None:
    (compaction,) = found_in(path).compactions
    losses = {loss.text: loss for loss in compaction.losses}
    # needed: station_five, 1289, to_metres, the table's path, FEET_PER_METRE, the command and the
    # path in it; harbour_list is new, and to_metres is in the summary
    assert set(losses) == {
        "station_five",
        "1289",
        "/home/ada/tides/station_table.py",
        "FEET_PER_METRE",
        "pytest tests/test_heights.py -q",
        "tests/test_heights.py",
    }
    assert (compaction.needed, compaction.kept, compaction.lost) == (7, 1, 6)
    assert losses["FEET_PER_METRE"].found_again
    assert not losses["station_five"].found_again
    assert losses["1289"].kind == "number"
    assert losses["pytest tests/test_heights.py -q"].kind == "command"


def test_what_a_summary_invents_is_named(path: Path) -> None:
    (compaction,) = found_in(path).compactions
    assert set(compaction.invented) == {"always round to two digits", "make tidetables"}


def test_what_was_read_again_is_counted_with_its_cost(path: Path) -> None:
    (compaction,) = found_in(path).compactions
    (again,) = compaction.reread
    assert (again.path, again.times) == ("/home/ada/tides/station_table.py", 1)
    assert again.tokens == (len("FEET_PER_METRE = 3.28084\n") + 600) // 4


def test_what_foreword_keeps_at_the_same_size_is_measured_not_assumed(path: Path) -> None:
    (compaction,) = found_in(path).compactions
    restored = {loss.text for loss in compaction.losses if loss.restored}
    assert compaction.kept <= compaction.foreword_kept <= compaction.needed
    assert "station_five" in restored


def test_the_window_is_filled_by_tools_and_words_and_the_cache_breaks_once(path: Path) -> None:
    session = found_in(path)
    fill = dict(session.fill)
    table = len(f"FEET_PER_METRE = 3.28084\nkey = {SECRET}\n") + 600
    assert fill["tool Read"] == (table + len("FEET_PER_METRE = 3.28084\n") + 600) // 4
    assert (session.calls, session.prompt_tokens, session.cached_tokens) == (4, 29_500, 14_000)
    (broken,) = session.cache_breaks
    assert (broken.reason, broken.tokens) == ("compaction", 4_000)


def test_the_command_says_it_in_words_and_as_json_and_hides_secrets(path: Path) -> None:
    told = foreword("autopsy", path.parent, cwd=path.parent)
    assert told.code == 0, told.err
    assert "1 session (1 of claude-code), 1 compaction." in told.out
    assert (
        "Of 7 names that the agents used again afterwards, their summaries had 1 (14%)" in told.out
    )
    assert "nobody had said: " in told.out
    assert "read again once: /home/ada/tides/station_table.py, 156 tokens" in told.out
    data = foreword("autopsy", path, "--json", cwd=path.parent)
    values = json.loads(data.out)
    assert values["total"]["needed"] == 7
    assert values["sessions"][0]["compactions"][0]["invented"]
    assert SECRET not in told.out + data.out


def test_a_turn_is_named_by_its_first_words_with_dots_and_no_part_of_a_secret(path: Path) -> None:
    words = "Please look why the harbour master can't log in here: the key is " + SECRET
    more = [line("user", f"{words} and go on."), line("assistant", "It has expired. " * 400)]
    path.write_text("".join(json.dumps(one) + "\n" for one in [*LINES, *more]), "utf-8")
    values = json.loads(foreword("autopsy", path, "--json", cwd=path.parent).out)
    turns = [one["what"] for one in values["sessions"][0]["largest"]]
    (named,) = [turn for turn in turns if turn.startswith("Please look")]
    assert named.endswith("...")
    assert SECRET[:4] not in named


def test_what_was_not_looked_at_is_said_and_a_break_has_its_price(path: Path) -> None:
    priced = json.dumps(LINES).replace('"model": "m"', '"model": "claude-opus-4-6"')
    lines = [json.dumps(one) for one in json.loads(priced)]
    (path.parent / "broken.jsonl").write_text("\n".join([*lines, "{broken", ""]), "utf-8")
    (path.parent / "notes.jsonl").write_text("no session\n", "utf-8")
    told = foreword("autopsy", path.parent, cwd=path.parent)
    assert "left out, no session of an agent: 1 file (notes.jsonl)" in told.err
    assert "left out: 1 line of broken.jsonl that can't be read" in told.err
    assert 'came in after the user said "Go on with the harbour_list."' in told.out
    assert "$0.02 more than from the cache" in told.out  # 4,000 tokens at 4.5 dollars a million
    data = json.loads(foreword("autopsy", path.parent, "--json", cwd=path.parent).out)
    assert data["total"]["broken_cost"] == 0.018
    assert data["total"]["skipped"] == 1


def test_a_session_that_ended_with_its_compaction_has_lost_nothing(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in LINES[:8]), "utf-8")
    told = foreword("autopsy", file, cwd=tmp_path)
    assert "nothing from before it was used again" in told.out


def test_a_page_shows_one_compaction_with_nothing_from_elsewhere(path: Path) -> None:
    ran = foreword("autopsy", path, "--open", cwd=path.parent, BROWSER="true")
    assert ran.code == 0, ran.err
    page = Path(ran.err.rpartition("the page is ")[2].strip())
    text = page.read_text("utf-8")
    assert page.stat().st_mode & 0o777 == 0o600
    for words in ("station_five", "make tidetables", "[unproven]", "Convert the heights"):
        assert words in text
    assert SECRET not in text
    assert "<script" not in text
    assert "http" not in text.replace("http-equiv", "")


def test_sessions_of_the_machine_are_found_where_agents_keep_them(path: Path) -> None:
    home = path.parents[1] / "home"
    kept = home / ".claude" / "projects" / "-home-ada-tides"
    kept.mkdir(parents=True)
    (kept / "s-1.jsonl").write_bytes(gzip.decompress(path.read_bytes()))
    (kept / "agent-7.jsonl").write_bytes(gzip.decompress(path.read_bytes()))  # of a helper
    ran = foreword("autopsy", cwd=path.parent, HOME=str(home))
    assert "1 session (1 of claude-code)" in ran.out
    empty = foreword("autopsy", cwd=path.parent, HOME=str(path.parents[1] / "nobody"))
    assert empty.code == 2
    assert "no session of a coding agent here" in empty.err


def test_fix_shows_what_init_would_write(path: Path) -> None:
    ran = foreword("autopsy", path, "--fix", cwd=path.parent)
    assert "new: .claude/settings.json" in ran.out
    assert ran.code == 2  # nobody is here to say yes
    assert not (path.parent / ".claude").exists()
