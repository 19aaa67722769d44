"""Random reviews of policies as they are, and of policies that are damaged in one or two places.

Plain data, the same for a seed. `old_verdicts.json` has what the reader before this one said of
some seeds: it took any spelling of a policy and called for a person wherever it did not understand
one, so what it refused must not be approved.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from random import Random
from typing import Any

import yaml

from foreword.review.findings import Severity
from tests.corpus import text_of

POLICIES: dict[str, Any] = yaml.safe_load(text_of("policies/intact.yaml"))
SEVERITIES: list[Severity] = ["critical", "high", "medium", "low", "info"]
STATUSES = [["answered", "answered"]] * 6 + [
    ["answered", "late"],
    ["answered", "invalid"],
    ["answered", "missing"],
    ["late", "failed"],
]
FILES = ["src/a.py", "db/x.sql", "docs/r.md", "models/u.py"]
PANELS = "code-review,security-review,data-review,test-review"
# Of a change that nothing speaks against.
GOOD_FACTS: dict[str, object] = {
    "ci_checks_passed": True,
    "auto_remediable": False,
    "dependabot_alerts_open": False,
    "baseline_exists": False,
    "canary_pass_rate": 0.9,
    "canary_detections": 3,
    "auth_files_changed": False,
    "data_files_changed": False,
    "change_type": "docs_only",
    "panels_executed": PANELS,
    "plausibility_checks_passed": True,
    "plan_required_passed": True,
}
ODD_NAMES = (
    "requires_human_review enabled freeze unless approvers min_reviewers when status notes"
    " exceptions coverage severity gate override allow block conditions action rules"
).split()
ODD_VALUES: list[Any] = [
    *(True, False, None, 0, 1, "yes", "off", "deny", "draft", "critical_findings > 0"),
    *("false", "true", ["alice"], {"enabled": True}, {"required": True}),
]
SWAPS = [
    *(("and", "or"), ("or", "and"), (">=", "<="), ("<", ">"), ("==", "!="), ("any_", "all_")),
    *(("all_", "any_"), ("no_", "any_"), ("low", "severe"), ("true", "false"), ("in", "not in")),
    *(("0.", "9."), ('"', "'"), ("_", "-"), ("(", ""), ("not ", ""), ("any_", ""), ("no_", "not ")),
]


def cases(seed: int, *, intact: int, damaged: int) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield policies with a review each: first policies as they are, then damaged ones."""
    random = Random(seed)
    for number in range(intact + damaged):
        policy = POLICIES[random.choice(list(POLICIES))]
        if number >= intact:
            for _ in range(random.choice([1, 1, 2])):
                policy = _damaged(random, policy)
        yield policy, _review(random)


def _review(random: Random) -> dict[str, Any]:
    count = random.choice([0, 0, 1, 1, 2, 3, 6])
    is_good = random.random() < 0.6
    facts = dict(GOOD_FACTS)
    for name in GOOD_FACTS if not is_good else ():
        if random.random() < 0.5:
            del facts[name]
        elif random.random() < 0.3:
            facts[name] = random.choice([True, False, 0.1, "feature"])
    findings = []
    for number, severity in enumerate(random.choices(SEVERITIES, [1, 2, 3, 6, 6], k=count)):
        flag = random.choice(["", "", "pii_exposure", "style_nit"])
        said_by = random.choice("AB")
        finding = {"severity": severity, "title": f"t{number}", "said_by": said_by, "flag": flag}
        findings.append(finding)
    return {
        "panel": random.choice(["code-review", "security-review"]),
        "findings": findings,
        "statuses": random.choice(STATUSES),
        "files": random.sample(FILES, random.choice([1, 2])),
        "facts": facts,
        "remarks": {"A": ["did not see all"]} if random.random() < 0.1 else {},
        "shown": "a part" if random.random() < 0.1 else "",
    }


def _damaged(random: Random, policy: Any) -> Any:
    """A copy of the policy with a field added, renamed or deleted, a value or a condition
    changed."""
    policy = copy.deepcopy(policy)
    places = [place for place in _places(policy) if place]
    mappings = [place for place in _places(policy) if isinstance(_at(policy, place), dict)]
    place = random.choice(places or [()])
    parent, name = _at(policy, place[:-1]), place[-1] if place else ""
    match random.choice(["add", "rename", "spell", "delete", "value", "condition"]):
        case "add":
            _at(policy, random.choice(mappings))[random.choice(ODD_NAMES)] = _odd_value(random)
        case "rename" if isinstance(name, str) and name:
            parent[random.choice(ODD_NAMES)] = parent.pop(name)
        case "spell" if isinstance(name, str) and name:
            spelling = [name.upper(), name.replace("_", "-"), name.title(), f"{name}s"]
            parent[random.choice(spelling)] = parent.pop(name)
        case "delete" if places:
            del parent[name]
        case "value" if places:
            parent[name] = _odd_value(random)
        case "condition":
            texts = [place for place in places if isinstance(_at(policy, place), str)]
            place = random.choice(texts)
            words, others = random.choice(SWAPS)
            changed = _at(policy, place).replace(words, others, 1)
            _at(policy, place[:-1])[place[-1]] = changed
    return policy


def _odd_value(random: Random) -> Any:
    return copy.deepcopy(random.choice(ODD_VALUES))


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield place
    members: Any = enumerate(value) if isinstance(value, list) else ()
    for name, member in value.items() if isinstance(value, dict) else members:
        yield from _places(member, (*place, name))


def _at(value: Any, place: tuple[Any, ...]) -> Any:
    for name in place:
        value = value[name]
    return value
