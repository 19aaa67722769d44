"""Which artifact a phase hands on, in the ways people write that."""

from __future__ import annotations

import pytest

from foreword.plan.artifact_names import handovers, missing_artifacts, repeated_artifacts
from tests.corpus import rows


@pytest.mark.parametrize("text", rows("documents/artifacts_given.jsonl"))
def test_a_phase_names_what_it_hands_on(text: str) -> None:
    found = handovers({"0": "Output: [ST-0]", "1": text})
    assert found["1"].gives == "ST-1"
    assert set(found["1"].takes) <= {"ST-0"}


@pytest.mark.parametrize("text", rows("documents/artifacts_mentioned.jsonl"))
def test_a_mention_of_another_phases_artifact_is_no_claim(text: str) -> None:
    assert handovers({"0": "Output: [ST-0]", "1": text})["1"].gives == ""


def test_letters_steps_and_numbers_that_fit_are_understood() -> None:
    phases = {
        "3a": "### Output\n\nOne of [ST-3A] and [ST-3B] is not yours.\n\n[ST-3A]\n",
        "3b": "### Output\n\n[ST-3B]\n",
        "4": "**Artifact `[MIG-4.N]: Step N Result`**, checked against [ST-3A].\n",
    }
    found = handovers(phases)
    assert [one.gives for one in found.values()] == ["ST-3A", "ST-3B", "MIG-4.N"]
    assert found["4"].takes == ("ST-3A",)


def test_the_overview_above_the_phases_names_what_a_phase_does_not() -> None:
    overview = "1. **Triage** → `[INC-1]` - **GATE**\n2. **Mitigate** -> [INC-2]\n"
    found = handovers({"1": "Look.", "2": "Mend what [INC-1] says."}, overview)
    assert found["1"].gives == "INC-1"
    assert (found["2"].gives, found["2"].takes) == ("INC-2", ("INC-1",))


def test_what_two_phases_claim_goes_to_the_one_of_its_number_and_is_told() -> None:
    phases = {"1": "Output: [ST-2]", "2": "Output: [ST-2]"}
    found = handovers(phases)
    assert (found["1"].gives, found["2"].gives) == ("", "ST-2")
    assert list(repeated_artifacts(phases)) == [("2", "ST-2")]


def test_a_phase_may_hand_on_one_answer_under_two_names() -> None:
    phases = {
        "1": "### Outputs\n- [ST-1a] list\n- [ST-1b] map\n",
        "2": "Read [ST-1b]. Write [ST-2].",
    }
    found = handovers(phases)
    assert (found["1"].gives, found["1"].also) == ("ST-1a", ("ST-1b",))
    assert found["2"].takes == ("ST-1b",)
    assert list(missing_artifacts(phases, ["ST-1a", "ST-1b", "ST-2"])) == []


def test_what_a_later_phase_hands_on_is_not_taken() -> None:
    found = handovers({"1": "This feeds [ST-2]. Output: [ST-1]", "2": "Output: [ST-2]"})
    assert (found["1"].takes, found["2"].gives) == ((), "ST-2")


def test_going_back_to_an_artifact_does_not_hand_it_on_again() -> None:
    assert (
        list(repeated_artifacts({"1": "Output: [ST-1]", "2": "If it fails, return to [ST-1]."}))
        == []
    )


def test_a_table_above_the_phases_names_what_they_hand_on_in_its_column() -> None:
    overview = (
        "| Phase | Takes | Artifact |\n|---|---|---|\n| 1 | - | `[REQ-01]` |\n"
        "| **Phase 2** Design | [REQ-01] | [DSN-01] |\n"
    )
    found = handovers({"1": "Look.", "2": "Draw what [REQ-01] says."}, overview)
    assert [one.gives for one in found.values()] == ["REQ-01", "DSN-01"]
    assert found["2"].takes == ("REQ-01",)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "| Input | Output |\n|---|---|\n| issue | [REQ-07] |",
            "| Input | Output |\n|---|---|\n| [REQ-07] | [DSN-07] |",
        ),
        ("Outputs:\n- [REQ-07] wishes\n", "Inputs:\n\n- [REQ-07]\n\nOutputs:\n\n1. [DSN-07]\n"),
        ("_Output_: `[REQ-07]`", "_Input_: `[REQ-07]`\n_Output_: `[DSN-07]`"),
    ],
)
def test_tables_labels_and_emphasis_name_what_is_handed_on(first: str, second: str) -> None:
    found = handovers({"1": first, "2": second})
    assert [one.gives for one in found.values()] == ["REQ-07", "DSN-07"]
    assert found["2"].takes == ("REQ-07",)
