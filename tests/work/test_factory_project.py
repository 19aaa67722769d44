"""What a project says of itself: which profile its panels judge by."""

from __future__ import annotations

from pathlib import Path

import pytest

from foreword.errors import BadSource, UnknownName
from foreword.work.factory_project import active_profile
from tests.factory import project, write


@pytest.mark.parametrize(
    "text",
    [
        "profile: strict\n",
        "Profile: strict\n",
        "policyProfile: strict\n",
        "policy: strict\n",
        "profiles: [strict]\n",
        "governance:\n  policy_profile: strict\n",
        "governance: {policy: {profile: strict}}\n",
    ],
)
@pytest.mark.parametrize("name", ["project.yaml", "project.yml", "governance/project.yml"])
def test_the_profile_is_the_one_that_the_project_names_however_it_says_so(
    tmp_path: Path, name: str, text: str
) -> None:
    project(tmp_path, ["anna"])
    (tmp_path / "project.yaml").unlink()
    write(tmp_path, "policy/strict.yaml", "auto_merge: {enabled: false}\n")
    write(tmp_path, name, text)
    profile = active_profile(tmp_path)
    assert (profile.name, profile.source) == ("strict", "policy/strict.yaml")


@pytest.mark.parametrize(
    "text",
    ["profile: : strict\n", "profile: strict\nprofile: default\n", "- profile: strict\n", "\0\0"],
)
def test_a_project_file_that_cant_be_read_leaves_no_change_to_the_default_rules(
    tmp_path: Path, text: str
) -> None:
    project(tmp_path, ["anna"])
    write(tmp_path, "project.yaml", text)
    with pytest.raises(BadSource, match=r"project\.yaml: .*the profile that it names is not known"):
        active_profile(tmp_path)


def test_of_several_profiles_one_has_to_be_named(tmp_path: Path) -> None:
    project(tmp_path, ["anna"])
    write(tmp_path, "project.yaml", "profiles: [default, strict]\n")
    with pytest.raises(BadSource, match="names several profiles") as caught:
        active_profile(tmp_path)
    assert caught.value.hint == "profile: default"
    write(tmp_path, "project.yaml", "profile: strikt\n")
    with pytest.raises(UnknownName):
        active_profile(tmp_path)


def test_a_profile_may_be_json(tmp_path: Path) -> None:
    write(tmp_path, "project.yaml", "name: kilns\nprofile: strict\n")
    write(tmp_path, "policy/strict.json", '{\n\t"auto_merge": {"enabled": false}\n}\n')
    profile = active_profile(tmp_path)
    assert profile.source == "policy/strict.json"
    assert profile.policy.auto_merge is not None
    assert not profile.policy.auto_merge.enabled


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("auto_merg: {enabled: true}\n", "auto_merg: unknown name, did you mean 'auto_merge'?"),
        ("", "empty"),
        ("x: " + "a" * 5_000_000, "characters"),
        ("a: &a [x, x]\nb: &b [*a, *a]\nc: [" + "*b, " * 9_000 + "*b]\n", "not read"),
        ("- auto_merge\n", "must be a mapping"),
        ("auto_merge: !!python/object/apply:os.getcwd []\n", "not valid YAML"),
    ],
    ids=["typo", "empty", "5 MB", "aliases", "list", "object"],
)
def test_a_policy_that_cant_be_read_is_an_error_in_a_sentence(
    tmp_path: Path, text: str, problem: str
) -> None:
    write(project(tmp_path, ["anna"]), "policy/default.yaml", text)
    with pytest.raises(BadSource) as caught:
        active_profile(tmp_path)
    assert problem in caught.value.message
    assert len(caught.value.message) < 500


def test_a_policy_may_repeat_itself_by_anchors(tmp_path: Path) -> None:
    rules = "block: {conditions: [&c {condition: findings > 9}, *c]}\nauto_merge: {enabled: true}\n"
    write(project(tmp_path, ["anna"]), "policy/default.yaml", rules)
    assert [rule.condition for rule in active_profile(tmp_path).policy.block.conditions] == [
        "findings > 9",
        "findings > 9",
    ]
