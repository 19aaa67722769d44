"""What a project says of itself: which profile its panels judge by."""

from __future__ import annotations

from pathlib import Path

import pytest

from foreword.errors import BadSource, UnknownName
from foreword.review.profile import Approval
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
    write(tmp_path, "policy/strict.yaml", "auto_merge: false\n")
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
    write(tmp_path, "policy/strict.json", '{\n\t"auto_merge": false\n}\n')
    profile = active_profile(tmp_path)
    assert (profile.source, profile.approval) == ("policy/strict.json", Approval(enabled=False))
