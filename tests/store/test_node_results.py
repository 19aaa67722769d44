"""Results of nodes and their runs, on both databases: a success once, the newest of each node,
attempts in turn."""

from __future__ import annotations

from typing import Any

from foreword.store import node_results, node_runs, workflows
from foreword.store.database import Database
from tests.store.databases import workflow_in


def test_a_success_is_kept_once_and_a_failure_gives_way_to_it(db: Database) -> None:
    w = workflow_in(db)

    def keep(run: str, status: str, output: dict[str, Any]) -> bool:
        return node_results.keep(
            db, w, run=run, key="node5[0]/node6", node="node6", status=status, output=output
        )

    assert keep("run-1", "failed", {"error": "gone"})
    assert keep("run-1", "success", {"result": {"n": 1}})
    assert not keep("run-1", "success", {"result": {"n": 2}})
    assert not keep("run-1", "failed", {"error": "again"})
    assert keep("run-2", "success", {"result": {"n": 3}})
    (kept,) = node_results.of_run(db, w, "run-1").values()
    assert (kept.key, kept.node) == ("node5[0]/node6", "node6")
    assert (kept.status, kept.output) == ("success", {"result": {"n": 1}})
    assert node_results.of_run(db, workflow_in(db, "other"), "run-1") == {}


def test_the_newest_result_of_each_node_is_found_whatever_run_it_is_of(db: Database) -> None:
    w = workflow_in(db)

    def keep(node: str, n: int) -> None:
        output = {"n": n}
        node_results.keep(db, w, run="run-1", key=node, node=node, status="success", output=output)

    def newest() -> dict[str, int]:
        return {name: one.output["n"] for name, one in node_results.newest(db, w).items()}

    keep("node1", 1)
    node_results.keep_test(db, w, node="node1", status="failed", output={"n": 2})
    node_results.keep_test(db, w, node="node2", status="success", output={"n": 3})
    keep("node2", 4)
    assert newest() == {"node1": 2, "node2": 4}
    node_results.keep_test(db, w, node="node2", status="success", output={"n": 5})
    assert newest() == {"node1": 2, "node2": 5}
    assert len(node_results.of_run(db, w, node_results.TEST)) == 2


def test_an_earlier_attempt_changes_nothing_once_the_next_has_begun(db: Database) -> None:
    w = workflow_in(db)
    first = node_runs.begin(db, w, run="run-1", executor="here")
    second = node_runs.begin(db, w, run="run-1", executor="there")
    assert (first.attempt, second.attempt, second.executor) == (1, 2, "there")
    assert not node_runs.end(db, w, first, status=node_runs.STOPPED, failed_at="node1")
    assert node_runs.find(db, w, "run-1") == second
    assert node_runs.end(db, w, second, status=node_runs.FAILED, failed_at="node2")
    node_runs.begin(db, w, run="run-2", executor="here")
    runs = [(one.run, one.status, one.failed_at) for one in node_runs.runs_of(db, w)]
    assert runs == [("run-2", "running", ""), ("run-1", "failed", "node2")]
    assert node_runs.find(db, w, "run-3") is None


def test_the_number_of_a_node_is_never_given_twice(db: Database) -> None:
    w = workflow_in(db)
    assert [workflows.next_node(db, w, least) for least in (0, 0, 7, 3, 0)] == [1, 2, 8, 9, 10]
    assert workflows.next_node(db, workflow_in(db, "other"), 0) == 1


def test_a_workflow_that_holds_only_runs_is_not_forgotten_as_empty(db: Database) -> None:
    w = workflow_in(db)
    node_runs.begin(db, w, run="run-1", executor="here")
    workflows.drop_empty(db, w)
    assert workflows.names(db) == ["main"]
