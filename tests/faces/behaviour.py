"""What every face does the same: one suite of cases for Python, HTTP and MCP.

A face brings a `Client`; a case gets it and a name of its own for workflow and task, so that cases
may share a server. Operations are named as in `foreword.operations.table`, their arguments are
plain JSON, `workflow` among them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest
from splintr import Tokenizer

from foreword.errors import ForewordError
from foreword.operations.operation import Operation, Project
from foreword.operations.table import OPERATIONS
from foreword.session.session import Session
from foreword.store.urls import open_database
from foreword.tokens import counter
from tests import factory
from tests.sessions import plan, words

SECRET = "sk-ant-" + "a1" * 20


class Client(Protocol):
    """A face as a caller has it."""

    @property
    def root(self) -> Path:
        """The project that is served."""

    def call(self, operation: str, /, **arguments: Any) -> dict[str, Any]:
        """Do one operation; `Refused` where it is."""


class Refused(Exception):
    """An error as it came back: its code, its message, its hint."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(code, message, hint)
        self.code, self.message, self.hint = code, message, hint


class PythonClient:
    """The operations called directly."""

    def __init__(self, root: Path, url: str | None = None) -> None:
        self.root = root
        self.url = url

    def call(self, operation: str, /, **arguments: Any) -> dict[str, Any]:
        try:
            return self._call(operation, arguments)
        except ForewordError as error:
            raise Refused(error.code, error.message, error.hint) from None

    def _call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        operation = OPERATIONS[name]
        workflow = ""
        if operation.scope in ("workflow", "conversation"):
            workflow = arguments.pop("workflow")
        return operation.perform(self._target(operation, workflow), arguments)

    @contextmanager
    def _target(self, operation: Operation[Any, Any, Any], workflow: str) -> Iterator[Any]:
        if workflow:
            with Session.open(
                self.url, workflow, root=self.root, create=operation.makes_workflow
            ) as session:
                yield session
            return
        with closing(open_database(self.url, self.root)) as db:
            yield db if operation.scope == "store" else Project(self.root, db)


def project(folder: Path) -> Path:
    """The project that a client for these cases serves."""
    root = factory.project((folder / "project").resolve(), ["potter", "glazer"])
    factory.write(root, "docs/firing.md", "# Firing\n\nBisque firing takes a kiln to cone 04.\n")
    factory.write(root, "items.json", json.dumps({"items": ITEMS}))
    (folder / "outside.json").write_text(json.dumps({"items": ITEMS}))
    (root / "link.json").symlink_to(folder / "outside.json")
    return root


ITEMS = [
    {"kind": "task", "title": "Fire the kiln", "text": "Fire the kiln to cone 04 tonight."},
    {
        "kind": "decision",
        "title": "Cone 04",
        "text": "Cone 04 it is, since the glaze runs above it.",
    },
    {
        "kind": "doc",
        "title": "Handbook",
        "text": "\n\n".join(f"Chapter {n}. {words('kiln', 60)}" for n in range(40)),
    },
]

Case = Callable[[Client, str], None]
CASES: list[Case] = []


def case(function: Case) -> Case:
    """One of the cases."""
    CASES.append(function)
    return function


def check_every_case(client: Client) -> None:
    """Run the cases one after another; the traceback of one that fails has its name."""
    for each in CASES:
        each(client, each.__name__)


def refusal(client: Client, operation: str, /, **arguments: Any) -> Refused:
    """The error that an operation ends in."""
    with pytest.raises(Refused) as refused:
        client.call(operation, **arguments)
    return refused.value


# --- names of fields ------------------------------------------------------------------------------


@case
def a_field_may_have_another_name_but_not_two(client: Client, name: str) -> None:
    given = {"recipe": "package", "purpose": "design", "source_context": ["Times are in UTC."]}
    answer = client.call("assemble_context", tokenBudget=500, **given)
    assert (answer["budget_tokens"], "Times are in UTC." in answer["text"]) == (500, True)
    refused = refusal(client, "assemble_context", budget=400, tokenBudget=500, **given)
    assert "'budget' and 'tokenBudget' both mean 'budget'; give one of them" in refused.message
    assert refused.code == "bad_request"
    refused = refusal(client, "assemble_context", token_limit=500, **given)
    assert "token_limit: unknown name" in refused.message


# --- plans ----------------------------------------------------------------------------------------


@case
def a_plan_comes_back_as_it_was_with_its_version(client: Client, name: str) -> None:
    sent = plan(colour="blue", blockers=["no key"])
    assert client.call("update_plan", workflow=name, plan=sent, reason="first")["version"] == 1
    assert (
        client.call("update_plan", workflow=name, plan=plan("completed"), reason="done")["version"]
        == 2
    )
    client.call("update_plan", workflow=name, plan=sent, reason="back", expected_version=2)
    now = client.call("get_current_plan", workflow=name)
    assert now["version"] == 3
    assert {key: now["plan"][key] for key in sent} == sent


@case
def a_bad_plan_is_refused_with_every_problem_and_changes_nothing(client: Client, name: str) -> None:
    client.call("update_plan", workflow=name, plan=plan(), reason="first")
    bad = plan()
    bad["phases"][0]["tasks"][0]["status"] = "nearly"
    del bad["overall_goal"]
    refused = refusal(client, "update_plan", workflow=name, plan=bad, reason="second")
    assert refused.code == "bad_plan"
    assert "overall_goal" in refused.message
    assert "status" in refused.message
    assert refused.hint.startswith("a plan is {overall_goal")
    assert client.call("get_current_plan", workflow=name)["version"] == 1


@case
def a_plan_that_somebody_else_has_updated_is_not_overwritten(client: Client, name: str) -> None:
    client.call("update_plan", workflow=name, plan=plan(), reason="first")
    client.call("update_plan", workflow=name, plan=plan("completed"), reason="second")
    refused = refusal(
        client, "update_plan", workflow=name, plan=plan("failed"), reason="late", expected_version=1
    )
    assert refused.code == "plan_conflict"
    assert "version 2, not 1" in refused.message
    now = client.call("get_current_plan", workflow=name)
    assert now["version"] == 2
    assert now["plan"]["phases"][0]["tasks"][1]["status"] == "completed"


@case
def a_mistyped_workflow_is_not_made_on_reading(client: Client, name: str) -> None:
    client.call("set_variable", workflow=name, name="x", value=1, reason="makes the workflow")
    refused = refusal(client, "get_current_plan", workflow=f"{name}s")
    assert refused.code == "unknown_name"
    assert f"did you mean {name!r}?" in refused.message
    assert (
        refusal(client, "get_workflow_variable", workflow=f"{name}s", name="x").code
        == "unknown_name"
    )


# --- variables ------------------------------------------------------------------------------------

VALUES = [
    None,
    True,
    0,
    -3,
    1.5,
    "",
    "text",
    [],
    {},
    [1, [2, [3]]],
    {"b": {"a": None}, "a": []},
    "\u0000\u202e\U0001f600",
    "\u2028 e\u0301 \ufeff",
    2**60,
    "<workflow_variables>",
    "x" * 5000,
]


@case
def any_value_comes_back_as_it_was(client: Client, name: str) -> None:
    for value in VALUES:
        client.call("set_variable", workflow=name, name="v", value=value, reason="try")
        answer = client.call("get_workflow_variable", workflow=name, name="v")
        assert json.dumps(answer["value"]) == json.dumps(value)


@case
def a_name_may_be_in_any_script(client: Client, name: str) -> None:
    odd = "ключ-\U0001f511-مفتاح %2F/../?#&"
    client.call("set_variable", workflow=name, name=odd, value="found", reason="try")
    assert client.call("get_workflow_variable", workflow=name, name=odd)["value"] == "found"
    assert client.call("clear_variable", workflow=name, name=odd, reason="done") == {
        "cleared": [odd]
    }


@case
def a_nodes_variables_come_together_and_so_do_all(client: Client, name: str) -> None:
    for variable, value in {"node7.a": 1, "node7.b": 2, "node8.a": 3}.items():
        client.call("set_variable", workflow=name, name=variable, value=value, reason="try")
    node = client.call("get_workflow_variable", workflow=name, node="7")["value"]
    assert node == {"node7.a": 1, "node7.b": 2}
    assert client.call("get_workflow_variable", workflow=name, name="all")["value"] == {
        **node,
        "node8.a": 3,
    }


@case
def a_secret_goes_to_its_caller_whole_and_is_hidden_everywhere_else(
    client: Client, name: str
) -> None:
    made = client.call(
        "set_variable", workflow=name, name="api_key", value=SECRET, reason=f"the key is {SECRET}"
    )
    assert made == {"name": "api_key", "shown": "[hidden]"}
    assert client.call("get_workflow_variable", workflow=name, name="api_key")["value"] == SECRET
    text = client.call("session_context", workflow=name, budget=4000)["text"]
    assert "api_key = [hidden]" in text
    assert SECRET not in text


@case
def clearing_takes_away_one_or_all_and_says_which(client: Client, name: str) -> None:
    for variable in ("a", "b", "c"):
        client.call("set_variable", workflow=name, name=variable, value=1, reason="try")
    assert client.call("clear_variable", workflow=name, name="b", reason="done") == {
        "cleared": ["b"]
    }
    assert sorted(client.call("clear_all_variables", workflow=name, reason="over")["cleared"]) == [
        "a",
        "c",
    ]
    assert client.call("get_workflow_variable", workflow=name, name="all")["value"] == {}


@case
def an_unknown_variable_is_refused_with_those_there_are(client: Client, name: str) -> None:
    client.call("set_variable", workflow=name, name="inbox", value=1, reason="try")
    for operation, more in (("get_workflow_variable", {}), ("clear_variable", {"reason": "typo"})):
        refused = refusal(client, operation, workflow=name, name="inbos", **more)
        assert refused.code == "unknown_name"
        assert "did you mean 'inbox'?" in refused.message
        assert refused.hint == "known: inbox"
    assert client.call("get_workflow_variable", workflow=name, name="all")["value"] == {"inbox": 1}


@case
def a_value_too_large_for_its_budget_comes_fitted_and_whole_page_by_page(
    client: Client, name: str
) -> None:
    value = [{"id": n, "mail": f"user{n}@example.org"} for n in range(1500)]
    client.call("set_variable", workflow=name, name="mails", value=value, reason="found")
    answer = client.call("get_workflow_variable", workflow=name, name="mails", budget=1000)
    assert "value" not in answer
    assert counter("o200k").count(answer["text"]) <= 1000
    assert answer["handle"] in answer["text"]
    assert answer["whole_tokens"] > 10_000
    assert json.loads(whole_original(client, answer["handle"], budget=5000)) == value


@case
def of_a_large_value_with_a_secret_in_it_no_copy_is_kept(client: Client, name: str) -> None:
    value = {"password": SECRET, "rest": words("rest", 3000)}
    client.call("set_variable", workflow=name, name="login", value=value, reason="found")
    answer = client.call("get_workflow_variable", workflow=name, name="login", budget=300)
    assert "handle" not in answer
    assert "no copy is kept" in answer["warnings"][0]
    assert (
        client.call("get_workflow_variable", workflow=name, name="login", budget=50_000)["value"]
        == value
    )


# --- conversations --------------------------------------------------------------------------------


@case
def a_message_is_in_the_next_context(client: Client, name: str) -> None:
    first = client.call(
        "append_message", workflow=name, message={"role": "user", "content": "Fire the kiln."}
    )
    second = client.call(
        "append_message", workflow=name, message={"role": "assistant", "content": "It is firing."}
    )
    assert (first["seq"], second["seq"]) == (1, 2)
    assert second["size_tokens"] > first["size_tokens"] > 0
    made = client.call("session_context", workflow=name, budget=4000)
    assert "Fire the kiln." in made["text"]
    assert "It is firing." in made["text"]
    assert made["tokens"] == counter("o200k").count(made["text"])


@case
def a_message_that_is_sent_again_under_its_key_is_there_once(client: Client, name: str) -> None:
    message = {"role": "user", "content": "Fire the kiln."}
    first = client.call("append_message", workflow=name, message=message, key="a-key")
    assert client.call("append_message", workflow=name, message=message, key="a-key") == first
    other = {"role": "user", "content": "Let it cool."}
    assert (
        refusal(client, "append_message", workflow=name, message=other, key="a-key").code
        == "key_reused"
    )
    assert client.call("append_message", workflow=name, message=other, key="another")["seq"] == 2


FRAMEWORK_MESSAGES: tuple[dict[str, Any], ...] = (
    {"role": "model", "parts": [{"text": "Gemini fires the kiln."}]},
    {"type": "human", "data": {"content": "LangChain fires the kiln."}},
    {"role": "user", "blocks": [{"block_type": "text", "text": "LlamaIndex fires the kiln."}]},
)
# What says something nobody reads, each with its place: also told by the commands.
NO_MESSAGES: tuple[tuple[Any, str], ...] = (
    ({"role": "user"}, "message.content"),
    ({"role": "model", "parts": [{"functionCall": {"args": {}}}]}, "message.parts[0].functionCall"),
    ({"role": "user", "content": [{"type": "tool_result"}]}, "message.content[0].tool_use_id"),
)


@case
def a_message_of_any_framework_is_read_and_what_is_none_is_refused_by_its_path(
    client: Client, name: str
) -> None:
    for message in FRAMEWORK_MESSAGES:
        client.call("append_message", workflow=name, message=message)
    text = client.call("session_context", workflow=name)["text"]
    for origin in ("Gemini", "LangChain", "LlamaIndex"):
        assert f"{origin} fires the kiln." in text
    for message, path in NO_MESSAGES:
        refused = refusal(client, "append_message", workflow=name, message=message)
        assert refused.code == "bad_source"
        assert path in refused.message
        assert "is missing" in refused.message


# --- contexts -------------------------------------------------------------------------------------


@case
def a_context_is_assembled_from_what_came_with_the_request(client: Client, name: str) -> None:
    made = client.call(
        "assemble_context", recipe="package", purpose="handoff", source=ITEMS, budget=800
    )
    assert made["tokens"] <= 800
    assert "Cone 04 it is" in made["text"]
    (left_out,) = made["omissions"]
    assert "Handbook" in left_out["what"]
    assert whole_original(client, left_out["handle"]) == ITEMS[2]["text"]


@case
def a_budget_is_in_exact_tokens_where_no_counter_is_named(client: Client, name: str) -> None:
    chinese = "".join(f"窑炉记录第{number}条，温度过高时降低火力。\n" for number in range(300))
    asked = {"recipe": "package", "purpose": "design", "budget": 300}
    source = [{"kind": "doc", "title": "Kilns", "text": chinese}]
    tokenizer = Tokenizer.from_pretrained("o200k_base")
    made = client.call("assemble_context", source=source, **asked)
    assert 200 < len(tokenizer.encode_ordinary(made["text"])) == made["tokens"] <= 300


@case
def material_may_be_a_file_of_the_project_and_no_other(client: Client, name: str) -> None:
    asked = {"recipe": "package", "purpose": "handoff", "budget": 800}
    assert "Cone 04 it is" in client.call("assemble_context", source="items.json", **asked)["text"]
    for path in (
        "../outside.json",
        str(client.root.parent / "outside.json"),
        "link.json",
        "docs/../../outside.json",
    ):
        refused = refusal(client, "assemble_context", source=path, **asked)
        assert refused.code == "outside_root"
        assert "Cone 04" not in refused.message
    assert refusal(client, "assemble_context", source="-", **asked).code == "bad_source"


@case
def a_recipe_or_a_task_outside_of_the_project_is_refused(client: Client, name: str) -> None:
    assert refusal(client, "assemble_context", recipe="../mine.yaml").code == "outside_root"
    assert refusal(client, "why", recipe="/etc/mine.yaml", about="task").code == "outside_root"
    refused = refusal(
        client, "assemble_context", recipe="director", agent="builder", task="../../etc/passwd"
    )
    assert refused.code == "outside_root"


@case
def why_says_whether_something_is_in_and_changes_nothing(client: Client, name: str) -> None:
    asked = {"recipe": "package", "purpose": "handoff", "source": ITEMS, "budget": 800}
    assert "in, whole" in client.call("why", about="Cone 04", **asked)["text"]
    assert "in, whole" not in client.call("why", about="Handbook", **asked)["text"]
    assert refusal(client, "why", about="Teapot", **asked).code == "unknown_name"


@case
def a_page_past_the_end_is_refused(client: Client, name: str) -> None:
    made = client.call(
        "assemble_context", recipe="package", purpose="handoff", source=ITEMS, budget=800
    )
    handle = made["omissions"][0]["handle"]
    size = client.call("recall", handle=handle)["total_chars"]
    assert client.call("recall", handle=handle, offset=size)["text"] == ""
    assert refusal(client, "recall", handle=handle, offset=size + 1).code == "usage"


@case
def documents_are_looked_up_by_name_and_by_question(client: Client, name: str) -> None:
    assert "You are potter" in client.call("lookup", wanted="potter", kind="persona")["text"]
    assert (
        "cone 04" in client.call("lookup", wanted="how hot is a bisque firing", budget=400)["text"]
    )
    assert refusal(client, "lookup", wanted="glazr", kind="persona").code == "unknown_name"


# --- checkpoints ----------------------------------------------------------------------------------


@case
def a_task_goes_on_from_its_newest_checkpoint(client: Client, name: str) -> None:
    data = {
        "objective": "Fire the kiln",
        "done": ["1"],
        "pending": ["2"],
        "state": {"cone": "04"},
        "mood": "calm",
    }
    client.call("write_checkpoint", task=name, phase="1", data=data)
    written = client.call(
        "write_checkpoint", task=name, phase="2", data={**data, "done": ["1", "2"]}
    )["written"]
    assert (client.root / written).is_file()
    listed = client.call("list_checkpoints", task=name)["checkpoints"]
    assert [(one["phase"], one["number"]) for one in listed] == [("1", 1), ("2", 2)]
    resumed = client.call("resume_checkpoint", task=name)
    assert "objective: Fire the kiln" in resumed["text"]
    assert resumed["checkpoint"]["done"] == ["1", "2"]
    checkpoint = client.call("show_checkpoint", task=name, phase="1")["checkpoint"]
    assert {key: checkpoint[key] for key in data} == data


@case
def a_secret_in_a_checkpoint_of_somebody_elses_is_hidden(client: Client, name: str) -> None:
    data = {"state": {"note": "to be replaced"}}
    written = client.call("write_checkpoint", task=name, phase="1", data=data)["written"]
    path = client.root / written
    path.write_text(path.read_text().replace("to be replaced", f"password: {SECRET}"))
    for operation in ("show_checkpoint", "resume_checkpoint"):
        answer = json.dumps(client.call(operation, task=name, phase="1"))
        assert SECRET not in answer
        assert "[hidden]" in answer


@case
def a_checkpoint_that_is_wrong_is_refused_and_none_is_written(client: Client, name: str) -> None:
    assert (
        refusal(client, "write_checkpoint", task=name, phase="1", data={"done": "all"}).code
        == "bad_request"
    )
    refused = refusal(
        client, "write_checkpoint", task=name, phase="1", data={"decisions": [{"why": "so"}]}
    )
    assert refused.code == "bad_checkpoint"
    assert refusal(client, "resume_checkpoint", task=name).code == "unknown_name"


def whole_original(client: Client, handle: str, **more: Any) -> str:
    """An original, all its pages together."""
    text = ""
    offset = 0
    while True:
        page = client.call("recall", handle=handle, offset=offset, **more)
        text += str(page["text"])
        if "next_offset" not in page:
            return text
        assert page["next_offset"] > offset
        offset = page["next_offset"]
