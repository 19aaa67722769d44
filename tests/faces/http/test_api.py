"""What the API answers beyond the operations that every face has: lists, pages, versions,
refusals."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from foreword.messages.message import KINDS, SHAPES
from tests.corpus import rows
from tests.faces.http.running import Address, session_path
from tests.sessions import numbered_message, plan, words


def append(address: Address, name: str, count: int, size: int = 20) -> None:
    reply = address.ask(
        "POST",
        session_path(name, "messages"),
        {"messages": [numbered_message(number, size) for number in range(count)]},
    )
    assert reply.status == 201, reply.body


# --- sessions -------------------------------------------------------------------------------------


def test_a_session_is_begun_once(address: Address, name: str) -> None:
    made = address.ask(
        "POST", "/v1/sessions", {"name": f"{name}/ä b", "system_prompt": "You throw pots."}
    )
    assert made.status == 201
    where = made.headers["location"]
    assert where == session_path(f"{name}/ä b")
    assert address.ask("GET", where).json["name"] == f"{name}/ä b"
    assert "You throw pots." in address.ask("GET", f"{where}/context").json["text"]
    again = address.ask("POST", "/v1/sessions", {"name": f"{name}/ä b"})
    assert (again.status, again.json["code"]) == (409, "session_exists")


def test_a_session_says_its_size_its_limits_and_its_state(address: Address, name: str) -> None:
    append(address, name, 4)
    state = address.ask("GET", session_path(name)).json
    assert state["messages"] == 4
    assert state["size_tokens"] > state["history_tokens"] > 0
    assert state["limits"] == {
        "window": 200_000,
        "budget": None,
        "warn_at": 160_000,
        "compress_at": 180_000,
        "compress_to": 20_000,
    }
    assert state["state"] == "quiet"


def test_sessions_are_listed_page_by_page_and_found_by_name(address: Address, name: str) -> None:
    for number in range(5):
        address.ask("POST", "/v1/sessions", {"name": f"{name}-{number}"})
    found, cursor = list[str](), dict[str, Any]()
    while True:
        page = address.ask("GET", "/v1/sessions", limit=2, search=name.upper(), **cursor).json
        assert len(page["items"]) <= 2
        found += [one["name"] for one in page["items"]]
        if page["next"] is None:
            break
        cursor = {"cursor": page["next"]}
    assert found == [f"{name}-{number}" for number in reversed(range(5))]
    assert address.ask("GET", "/v1/sessions", cursor="no such").status == 400


# --- messages and the next call -------------------------------------------------------------------


def test_messages_come_page_by_page_the_newest_first(address: Address, name: str) -> None:
    append(address, name, 7)
    first = address.ask("GET", session_path(name, "messages"), limit=3).json
    assert [one["seq"] for one in first["items"]] == [7, 6, 5]
    second = address.ask("GET", session_path(name, "messages"), limit=5, cursor=first["next"]).json
    assert [one["seq"] for one in second["items"]] == [4, 3, 2, 1]
    assert second["next"] is None
    assert second["items"][0]["text"].startswith("Message 3.")
    assert second["items"][0]["message"]["role"] == "assistant"


def test_many_messages_are_kept_all_or_none(address: Address, name: str) -> None:
    append(address, name, 2)
    bad = [numbered_message(3), {"role": "potter", "content": "?"}]
    reply = address.ask("POST", session_path(name, "messages"), {"messages": bad})
    assert (reply.status, reply.json["code"]) == (400, "bad_source")
    assert address.ask("GET", session_path(name)).json["messages"] == 2


def test_looking_at_the_next_call_changes_nothing_and_making_it_does(
    address: Address, name: str
) -> None:
    append(address, name, 4)
    context = session_path(name, "context")
    looked = address.ask("GET", context, budget=2_000, report="true").json
    assert looked["report"]["budget_tokens"] == 2_000
    assert address.ask("GET", session_path(name, "usage")).json["calls"] == 0
    other = address.ask("POST", context, {"budget": 2_000}).json
    assert other["warnings"][0].startswith("a preview: 2,000 tokens are not the session's own")
    assert address.ask("GET", session_path(name, "usage")).json["calls"] == 0
    made = address.ask("POST", context, {"budget": 2_000, "keep": True}).json
    assert made["text"] == looked["text"]
    usage = address.ask("GET", session_path(name, "usage"), last=5).json
    assert usage["calls"] == 1
    assert usage["log"][0]["total_tokens"] == made["tokens"]


def test_the_next_call_comes_in_the_shape_of_a_provider(address: Address, name: str) -> None:
    append(address, name, 2)
    context = session_path(name, "context")
    claude = address.ask("GET", context, form="anthropic").json
    assert {"system", "messages"} <= set(claude["messages"])
    openai = address.ask("POST", context, {"form": "openai", "save": False}).json
    assert openai["messages"][0]["role"] == "user"
    assert "text" not in openai
    for shape in SHAPES:
        shaped = address.ask("GET", context, form=shape).json
        words_of_last = numbered_message(1, 20)["content"]
        assert json.dumps(words_of_last) in json.dumps(shaped["messages"]), shape
    assert address.ask("GET", context, form="teapot").status == 400


def test_the_tabs_of_a_browser_stand_until_others_are_given(address: Address, name: str) -> None:
    append(address, name, 2)
    tabs = [{"name": "Kiln", "url": "https://kiln.example/", "active": True}]
    context = session_path(name, "context")
    assert "kiln.example" in address.ask("POST", context, {"browser": tabs}).json["text"]
    assert "kiln.example" in address.ask("POST", context, {}).json["text"]
    closed = address.ask("POST", context, {"browser": []}).json["text"]
    assert closed.rindex("no browser attached") > closed.rindex("kiln.example")


def test_a_compression_is_previewed_made_and_undone(address: Address, name: str) -> None:
    append(address, name, 60, 60)
    before = address.ask("GET", session_path(name)).json["history_tokens"]
    preview = address.ask(
        "POST", session_path(name, "compress"), {"to": 1_500, "preview": True}
    ).json
    assert not preview["applied"]
    assert preview["summary"]
    assert address.ask("GET", session_path(name)).json["history_tokens"] == before
    made = address.ask("POST", session_path(name, "compress"), {"to": 1_500}).json
    assert made["applied"]
    assert (
        address.ask("GET", session_path(name)).json["history_tokens"]
        == made["tokens_after"]
        < before
    )
    assert address.ask("POST", session_path(name, "undo")).json["number"] == 1
    assert address.ask("GET", session_path(name)).json["history_tokens"] == before
    assert [
        one["undone"]
        for one in address.ask("GET", session_path(name, "compressions")).json["items"]
    ] == [True]
    assert address.ask("POST", session_path(name, "undo")).json["code"] == "usage"


def test_a_conversation_is_not_made_by_looking_for_it(address: Address, name: str) -> None:
    append(address, name, 1)
    for path in ((), ("messages",), ("context",), ("usage",)):
        refused = address.ask("GET", session_path(name, *path), conversation="mian")
        assert (refused.status, refused.json["code"]) == (404, "unknown_name")
        assert "did you mean 'main'?" in refused.json["title"]
    said_elsewhere = {"message": numbered_message(1)}
    assert (
        address.ask(
            "POST", session_path(name, "messages"), said_elsewhere, conversation="side"
        ).json["seq"]
        == 1
    )
    assert address.ask("GET", session_path(name), conversation="side").json["messages"] == 1


# --- plans ----------------------------------------------------------------------------------------


def test_a_plan_is_not_overwritten_and_the_newest_comes_with_the_refusal(
    address: Address, name: str
) -> None:
    path = session_path(name, "plan")
    address.ask("PUT", path, {"plan": plan(), "reason": "first", "expected_version": 0})
    second = {"plan": plan("completed"), "reason": "second", "expected_version": 1}
    address.ask("PUT", path, second)
    late = {"plan": plan("failed"), "reason": "late"}
    refused = address.ask("POST", path, {**late, "expected_version": 1})
    assert refused.status == 409
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json["version"] == 2
    assert refused.json["newest"]["phases"][0]["tasks"][1]["status"] == "completed"
    assert address.ask("PUT", path, {**late, "expected_version": 2}).json["version"] == 3


def test_who_names_no_version_replaces_the_newest_and_all_are_kept(
    address: Address, name: str
) -> None:
    path = session_path(name, "plan")
    made = [
        address.ask(way, path, {"plan": plan(), "reason": way}).json["version"]
        for way in ("PUT", "PUT", "POST")
    ]
    assert made == [1, 2, 3]
    assert len(address.ask("GET", f"{path}/versions").json["items"]) == 3


def test_versions_are_listed_shown_and_compared(address: Address, name: str) -> None:
    path = session_path(name, "plan")
    for status in ("pending", "in_progress", "completed"):
        address.ask("PUT", path, {"plan": plan(status), "reason": f"now {status}"})
    page = address.ask("GET", f"{path}/versions", limit=2).json
    assert [(one["version"], one["reason"]) for one in page["items"]] == [
        (3, "now completed"),
        (2, "now in_progress"),
    ]
    assert [
        one["version"]
        for one in address.ask("GET", f"{path}/versions", cursor=page["next"]).json["items"]
    ] == [1]
    assert (
        address.ask("GET", f"{path}/versions/1").json["plan"]["phases"][0]["tasks"][1]["status"]
        == "pending"
    )
    (line,) = address.ask("GET", f"{path}/diff", old=1, new=3).json["lines"]
    assert "pending -> completed" in line
    assert address.ask("GET", f"{path}/versions/9").status == 404
    assert address.ask("GET", f"{path}/versions/{'9' * 5_000}").status == 404
    assert address.ask("GET", f"{path}/versions/teapot").status == 404


# --- nodes, reports, recipes ----------------------------------------------------------------------


def test_nodes_are_put_shown_and_dropped(address: Address, name: str) -> None:
    append(address, name, 1)
    node = {"id": "n/1", "position": 1, "type": "action", "config": {"password": "hunter2hunter2"}}
    assert address.ask("POST", session_path(name, "nodes"), {"node": node}).status == 200
    shown = address.ask("GET", session_path(name, "snapshot"))
    assert b"hunter2" not in shown.body
    assert shown.json["snapshot"]["nodes"][0]["id"] == "n/1"
    assert address.ask("DELETE", session_path(name, "nodes", "n/1")).status == 200
    assert address.ask("DELETE", session_path(name, "nodes", "n/1")).status == 404
    assert address.ask("POST", session_path(name, "nodes"), {"node": {}}).json["code"] == "bad_node"


def test_reports_are_listed_shown_and_compared(address: Address, name: str) -> None:
    append(address, name, 4)
    address.ask("POST", session_path(name, "context"), {})
    append(address, name, 4, 200)
    address.ask("POST", session_path(name, "context"), {})
    newest, older = address.ask("GET", "/v1/reports", workflow=name).json["items"]
    assert newest["workflow"] == name
    assert address.ask("GET", f"/v1/reports/{newest['number']}").json["report"]["recipe"] == "chat"
    diff = address.ask("GET", f"/v1/reports/{newest['number']}/diff", before=older["number"]).json
    assert diff["sections"][0]["word"] == "grew"
    assert diff["total"]["change"] == newest["total_tokens"] - older["total_tokens"]
    page = address.ask("GET", "/v1/reports", workflow=name, limit=1).json
    assert [one["number"] for one in page["items"]] == [newest["number"]]
    rest = address.ask("GET", "/v1/reports", workflow=name, cursor=page["next"]).json
    assert [one["number"] for one in rest["items"]] == [older["number"]]
    assert address.ask("GET", "/v1/reports/999999").status == 404
    assert address.ask("GET", "/v1/reports", workflow="teapot").status == 404


def test_recipes_are_listed_shown_and_linted(address: Address) -> None:
    listed = {
        one["name"]: one for one in address.ask("GET", "/v1/recipes", root="other").json["items"]
    }
    assert listed["workflow"]["about"]
    assert not listed["workflow"]["own"]
    assert listed["broken"]["own"]
    assert "line 1" in listed["broken"]["problem"]
    (layer, *_) = address.ask("GET", "/v1/recipes/fine", root="other").json["layers"]
    assert layer == {
        "path": "foreword/recipes/fine.yaml",
        "text": "name: fine\nextends: workflow\n",
    }
    assert address.ask("GET", "/v1/recipes/broken", root="other").status == 400
    (problem, *_) = address.ask("GET", "/v1/recipes/broken/lint", root="other").json["recipe"]
    assert problem["line"] == 1
    assert address.ask("GET", "/v1/recipes/workflow/lint").json["recipe"] == []
    assert address.ask("GET", "/v1/recipes/broken").status == 404


def test_the_trail_tells_every_change_of_a_variable(address: Address, name: str) -> None:
    path = session_path(name, "variables", "api_key")
    address.ask("PUT", path, {"value": "sk-ant-" + "b2" * 20, "reason": "found"})
    address.ask("PUT", path, {"value": words("w", 3), "reason": "changed"})
    items = address.ask("GET", session_path(name, "variable-changes")).json["items"]
    assert [(one["action"], one["reason"]) for one in items] == [
        ("set", "changed"),
        ("set", "found"),
    ]
    assert "b2b2" not in json.dumps(items)


# --- the server itself ----------------------------------------------------------------------------


def test_the_server_says_that_it_is_well(address: Address) -> None:
    assert address.ask("GET", "/healthz").json["status"] == "ok"


@pytest.mark.parametrize(("method", "path", "status", "code"), rows("http/refusals.jsonl"))
def test_every_refusal_is_a_problem_with_a_code(
    address: Address, method: str, path: str, status: int, code: str
) -> None:
    reply = address.ask(method, path, headers={"accept": "text/html"})
    assert (reply.status, reply.json["code"]) == (status, code)
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json["status"] == status
    assert reply.json["title"]


def test_a_wrong_method_is_told_the_right_ones(address: Address) -> None:
    assert address.ask("PATCH", "/v1/sessions").headers["allow"] == "GET, HEAD, POST"


def test_the_head_of_an_answer_can_be_asked_for_alone(address: Address) -> None:
    assert address.ask("HEAD", "/healthz").body == b""


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("text/plain", b'{"name": "x"}', 415),
        ("application/x-www-form-urlencoded", b"name=x", 415),
        ("", b'{"name": "x"}', 415),
        ("application/json", b"", 400),
        ("application/json", b"name: x", 400),
        ("application/json", b'{"name": "x"', 400),
        ("application/json", b'{"name": 7}', 400),
        ("application/json", b"[]", 400),
        ("application/json", gzip.compress(b'{"name": "x"}', mtime=0), 400),
    ],
)
def test_what_is_no_json_is_refused(address: Address, kind: str, body: bytes, status: int) -> None:
    reply = address.ask(
        "POST", "/v1/sessions", body, headers={"content-type": kind} if kind else {}
    )
    assert reply.status == status
    assert reply.headers["content-type"] == "application/problem+json"


def test_what_is_refused_makes_no_session(address: Address, name: str) -> None:
    bad = {"message": {"role": "usr", "content": "x"}}
    assert address.ask("POST", session_path(name, "messages"), bad).status == 400
    assert address.ask("PUT", session_path(name, "plan"), {"plan": {}, "reason": "r"}).status in (
        400,
        422,
    )
    assert address.ask("GET", session_path(name)).status == 404
    append(address, name, 1)
    assert address.ask("POST", session_path(name, "messages"), bad).status == 400
    assert address.ask("GET", session_path(name)).json["messages"] == 1


def test_a_mistyped_parameter_is_told_the_right_one(address: Address, name: str) -> None:
    refused = address.ask("GET", session_path(name, "plan"), budgte=5).json
    assert refused["title"] == "budgte: unknown name, did you mean 'budget'?"
    none = address.ask("GET", "/healthz", teapot=1).json
    assert none["title"] == "teapot: unknown name, known: none"


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ([], "input: must be a mapping, not a list"),
        ("x", "input: must be a mapping, not 'x'"),
        ({}, "input: give either message or messages"),
        ({"mesage": {}}, "mesage: unknown name, did you mean 'message'?"),
        ({"message": []}, "message: must be a mapping, not a list"),
        ({"messages": {}}, "messages: must be a list, not a mapping"),
        ({"message": {}, "pinned": "no"}, "pinned: must be true or false, not 'no'"),
        ({"message": {}, "kind": "tea"}, f"kind: 'tea' is not one of {', '.join(KINDS)}"),
    ],
)
def test_refusals_say_what_is_wrong_in_plain_words(
    address: Address, name: str, body: Any, title: str
) -> None:
    assert address.ask("POST", session_path(name, "messages"), body).json["title"] == title


def test_the_root_of_the_api_says_where_it_is_described(address: Address) -> None:
    root = address.ask("GET", "/v1", headers={"accept": "text/html"}).json
    assert set(address.ask("GET", root["description"]).json["paths"]) == set(root["paths"])


# --- material of the caller's own -----------------------------------------------------------------


def test_material_is_fitted_to_a_question_and_no_text_is_taken_for_a_path(address: Address) -> None:
    notes = [f"Painted fence {number} in blue." for number in range(200)]
    notes[120] = "We dropped the retry loop, because it hid the error."
    asked = {"material": notes, "question": "why did we drop the retry loop?", "budget": 200}
    answer = address.ask("POST", "/v1/fit", asked).json
    assert notes[120] in answer["text"]
    (omission,) = answer["omissions"]
    original = address.ask("GET", f"/v1/recall/{omission['handle']}").json["text"]
    assert all(note in original for note in (notes[0], notes[199]))
    path = {"material": ["/etc/passwd", {"text": "x", "path": "/etc/passwd"}], "budget": 200}
    assert "root:" not in address.ask("POST", "/v1/fit", path).json["text"]
    nothing = address.ask("POST", "/v1/fit", {**asked, "budget": 1})
    assert (nothing.status, nothing.json["code"]) == (400, "bad_budget")
