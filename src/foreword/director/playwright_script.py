"""A workflow as a plain Playwright script, which runs without us: the runtime of `script_runtime`,
and below it a line for each node."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pprint import pformat
from typing import Any

from foreword.director import workflow_file
from foreword.pattern import lazy_pattern
from foreword.plan.node import BRANCHES
from foreword.plan.node_sentences import sentence
from foreword.plan.node_tree import Node, Tree
from foreword.session.workflow_state import WorkflowState

_NO_WORD = lazy_pattern(r"\W+")
_HEAD = '''\
"""{name}, as a plain Playwright script.

    pip install playwright
    {environment}python {file}.py

`--show` opens a window; CHROMIUM names the browser, else the system's or Playwright's own is used.
"""
'''
_TAIL = '''

VARIABLES: dict[str, Any] = {variables}
SECRETS = {secrets}  # and the environment variables that they come from


def steps(flow: WorkflowScript) -> None:
    """The workflow, node by node."""
{lines}


if __name__ == "__main__":
    start(steps, VARIABLES, SECRETS)
'''


def script(state: WorkflowState) -> str:
    """The script of a workflow; secrets come from the environment when it is run."""
    from importlib.resources import files

    made = workflow_file.export(state)
    secrets = {path: _environment_name(path) for path in made["secrets"]}
    tree = Tree([{**node, "position": at} for at, node in enumerate(made["nodes"])])
    runtime = (files("foreword.director") / "script_runtime.py").read_text(encoding="utf-8")
    _, _, code = runtime.partition('"""\n\n')  # the module's own docstring ends there
    environment = "".join(f"{name}=... " for name in secrets.values())
    file = _NO_WORD.sub("_", made["name"]).strip("_") or "workflow"
    # A name may hold quotation marks, and what ends the docstring would be code behind it.
    title = made["name"].replace("\\", "/").replace('"', "'")
    head = _HEAD.format(name=title, environment=environment, file=file)
    return (
        head
        + code
        + _TAIL.format(
            variables=pformat(made["variables"], sort_dicts=False),
            secrets=pformat(secrets),
            lines="\n".join(_block(tree, parent="", branch="", depth=1)),
        )
    )


def _environment_name(path: str) -> str:
    return _NO_WORD.sub("_", path).strip("_").upper()


def _block(tree: Tree, parent: str, branch: str, depth: int) -> Iterator[str]:
    """The lines of all nodes in one place."""
    indent = "    " * depth
    children = tree.children(parent, branch)
    for node in children:
        yield f"{indent}# {_comment(node)}"
        yield from _node_lines(tree, node, depth)
    if not children:
        yield f"{indent}pass"


def _comment(node: Node) -> str:
    words = f"{node['id']}: {node.get('description') or sentence(node)}"
    return " ".join(words.split())


def _node_lines(tree: Tree, node: Node, depth: int) -> Iterator[str]:
    indent = "    " * depth
    kind = str(node["type"])
    config = node.get("config") or {}
    name = str(node["id"])
    if kind == "condition":
        then, otherwise = BRANCHES
        yield f"{indent}if flow.holds({_literal(config)}):"
        yield from _block(tree, parent=name, branch=then, depth=depth + 1)
        if tree.children(name, otherwise):
            yield f"{indent}else:"
            yield from _block(tree, parent=name, branch=otherwise, depth=depth + 1)
    elif kind == "loop":
        target = f"flow.loops[{config['as']!r}]" if config.get("as") else "_"
        yield f"{indent}for {target} in {_turns(config)}:"
        yield from _block(tree, parent=name, branch="", depth=depth + 1)
    elif kind == "break":
        yield f"{indent}break"
    else:
        yield f"{indent}flow.do({kind!r}, {_literal(config)}, {name!r})"


def _turns(config: Mapping[str, Any]) -> str:
    most = config.get("most")
    if "over" in config:
        return f"flow.turns({_literal(config['over'])}, {most})"
    if "next" in config:
        return f"flow.pages({_literal(config['next'])}, {most})"
    asked = {name: config[name] for name in ("while", "until") if name in config}
    return f"flow.repeat({most}, **{_literal(asked)})"


def _literal(value: Any) -> str:
    """A value as Python writes it, on one line; it comes from JSON, so it can be."""
    return repr(json.loads(json.dumps(value)))
