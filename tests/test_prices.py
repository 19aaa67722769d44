"""Prices of models: found by name, worked out by hand, unknown where there is none."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

import foreword
from foreword.demos import samples
from foreword.prices import cost_of_calls, price_of
from tests.command import foreword as command
from tests.sessions import Open


@pytest.mark.parametrize(
    ("name", "input_price"),
    [
        ("claude-sonnet-4-5", 3),
        ("anthropic:claude-sonnet-4-20250514", 3),
        ("claude-sonnet-5-5", 2),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", 5),
        ("claude-opus-4-1", 15),
        ("openai:gpt-5-mini-2025-08-07", 0.25),
        ("openrouter/openai/gpt-4.1", 2),
    ],
)
def test_a_price_is_found_by_the_name_of_its_model(name: str, input_price: float) -> None:
    price = price_of(name)
    assert price is not None
    assert price.input == input_price


@pytest.mark.parametrize(
    "name",
    ["", "test", "gpt-5-pro", "claude", "my-gpt-4ox", "openai:gpt-4o@http://127.0.0.1:8080/v1"],
)
def test_a_model_that_is_not_in_the_table_has_no_price(name: str) -> None:
    assert price_of(name) is None


def test_every_price_has_a_date_and_a_cache_is_no_dearer() -> None:
    table = json.loads(resources.files("foreword").joinpath("data/prices.json").read_text("utf-8"))
    for name in table["models"]:
        price = price_of(name)
        assert price is not None
        assert 0 < price.cached <= price.input <= price.output
        assert re.fullmatch(r"20\d\d-\d\d", price.date)


def test_calls_cost_what_is_new_at_the_full_price_and_the_rest_at_the_cached_one() -> None:
    log: list[dict[str, Any]] = [  # the newest first
        {"total_tokens": 30_000, "stable_tokens": 30_000, "reused_tokens": 5_000},
        {"total_tokens": 20_000, "stable_tokens": 20_000, "reused_tokens": 10_000},
        {"total_tokens": 10_000, "stable_tokens": 10_000, "reused_tokens": 0},
    ]
    for call, reason in zip(log, ("current_plan changed", "", "first call"), strict=True):
        call["prefix_break"] = reason
    assert cost_of_calls("claude-sonnet-4-5", log) == {
        "model": "claude-sonnet-4-5",
        "currency": "USD",
        "date": "2026-10",
        # 10,000 + 10,000 + 25,000 at 3 a million, 10,000 + 5,000 at 0.3
        "input": pytest.approx(0.1395),
        "input_without_cache": pytest.approx(0.18),
        # 15,000 that the call before had were sent at 3 instead of 0.3
        "breaks": pytest.approx(0.0405),
    }
    assert cost_of_calls("no-such-model", log) is None
    assert cost_of_calls(None, log) is None


def test_a_session_knows_what_its_calls_cost_whoever_opens_it_later(open_session: Open) -> None:
    session = open_session(model="claude-sonnet-4-5")
    session.append({"role": "user", "content": "Fire the kiln."})
    total = session.context().report.total_tokens
    later = open_session()
    cost = later.usage()["cost"]
    assert cost["model"] == "claude-sonnet-4-5"
    assert cost["input"] == pytest.approx(3 * total / 1_000_000, abs=1e-6)
    assert open_session("other").usage()["cost"] is None


def test_the_report_of_a_context_says_what_it_costs_to_send(tmp_path: Path) -> None:
    kilnbook = samples.lay_out(tmp_path / "sample")
    asked: dict[str, Any] = {"agent": "builder", "root": kilnbook, "budget": 3_000, "save": False}
    report = foreword.assemble("director", model="claude-sonnet-4-5", **asked).report
    cost = report.to_dict()["cost"]
    assert cost["input"] == pytest.approx(3 * report.total_tokens / 1_000_000, abs=1e-6)
    assert f"cost {cost['input']:.4f} USD to send, by the price of claude-sonnet-4-5" in str(report)
    unknown = foreword.assemble("director", **asked).report
    assert unknown.to_dict()["cost"] == "unknown"
    assert "to send" not in str(unknown)


def test_the_report_of_a_call_counts_what_a_cache_has_already(open_session: Open) -> None:
    session = open_session(model="claude-sonnet-4-5", recipe="workflow-cached")
    session.append({"role": "user", "content": "Fire the kiln. " * 400})
    session.context()
    session.append({"role": "assistant", "content": "It is warm."})
    report = session.context().report
    cost = report.to_dict()["cost"]
    assert cost["input"] < 0.3 * cost["input_without_cache"]
    assert cost["input_without_cache"] == pytest.approx(3 * report.total_tokens / 1e6, abs=1e-6)


def test_a_state_in_front_of_the_history_is_told_with_what_it_costs(open_session: Open) -> None:
    sessions = {}
    for recipe in ("workflow", "workflow-cached"):
        session = open_session(model="claude-sonnet-4-5", recipe=recipe, workflow=recipe)
        for turn in range(3):
            session.append({"role": "user", "content": f"Turn {turn}. " + "Fire the kiln. " * 300})
            session.set_variable("turn", turn, "a new turn")
            session.context()
        sessions[recipe] = session.usage()
    assert sessions["workflow-cached"]["state_in_front"] is None
    told = sessions["workflow"]["state_in_front"]
    assert (told["calls"], told["instead"]) == (2, "workflow-cached")
    first, second = (
        call["parts"]["conversation_history"] for call in sessions["workflow"]["log"][:0:-1]
    )
    assert told["tokens"] == pytest.approx(first + second, rel=0.1)
    assert told["cost"] == pytest.approx(2.7 * told["tokens"] / 1_000_000, abs=1e-6)


def test_a_terminal_of_80_columns_has_room_for_all_that_is_said_about_money(tmp_path: Path) -> None:
    with foreword.Session.open(
        None, "kiln", root=tmp_path, model="claude-sonnet-5-5", recipe="workflow"
    ) as session:
        for turn in range(3):
            session.append({"role": "user", "content": "Fire the kiln. " * 300})
            session.set_variable("turn", turn, "a new turn")
            session.context()
    ran = command("session", "usage", "kiln", cwd=tmp_path, COLUMNS="80")
    money = ran.out[ran.out.index("cost ") : ran.out.index("report ")]
    for words in ("answers and thinking are not in it", "more than from a cache", "sent anew"):
        assert words in money
    assert "…" not in money
    assert "foreword session context kiln --recipe workflow-cached" in money
