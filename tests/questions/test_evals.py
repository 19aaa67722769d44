"""The data sets of `benchmarks.evals` are read as their authors write them."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.evals.cases import Case, Turn, evidence_kept, tokens
from benchmarks.evals.datasets import DATASETS
from benchmarks.evals.makers import makers
from benchmarks.repository_tasks import read_tasks

# Each as its authors publish it, with the fields that are not read.
TURN = {"speaker": "Ada", "dia_id": "D1:1", "text": "I adopted a cat."}
PICTURE = {**TURN, "dia_id": "D1:2", "text": "Look.", "img_url": ["x"], "blip_caption": "a cat"}
ASKED = {"question": "Which pet?", "answer": "a cat", "evidence": ["D1:1; D1:2"], "category": 1}
MESSAGE = {"clean_text": "I adopted a cat.", "speaker": "Ada", "date_time": "29.12.2023, 21:23:14"}
ROLES = {"role": "user", "question_type": "main_question,q1", "time_anchor": "March-15-2024"}
FILES = {
    "locomo/locomo10.json": [
        {
            "sample_id": "conv-26",
            "conversation": {
                "speaker_a": "Ada",
                "speaker_b": "Ben",
                "session_1": [TURN, PICTURE],
                "session_1_date_time": "1:56 pm on 8 May, 2023",
                "session_2_date_time": "1:14 pm on 25 May, 2023",
            },
            "qa": [ASKED, {**ASKED, "category": 5}, {**ASKED, "evidence": []}],
            "observation": {"session_1_observation": {"Ada": [["Ada has a cat.", "D1:1"]]}},
            "session_summary": {"session_1_summary": "Ada has a cat."},
            "event_summary": {"events_session_1": {"Ada": [], "date": "8 May, 2023"}},
        }
    ],
    "realtalk/Chat_1_Ada_Ben.json": {
        "name": {"speaker_1": "Ada", "speaker_2": "Ben"},
        "session_1": [{**MESSAGE, "dia_id": "D1:1"}, {**MESSAGE, "dia_id": "D1:2"}],
        "session_1_date_time": "29.12.2023, 21:23:14",
        "events_session_1": {"Ada": [{"sub-event": "adopts a cat", "date": "29.12.2023"}]},
        "qa": [ASKED],
    },
    "longmemeval/longmemeval_s.json": [
        {
            "question_id": "e47becba",
            "question_type": "single-session-user",
            "question": "Which pet?",
            "answer": "a cat",
            "question_date": "2023/05/30 (Tue) 23:40",
            "haystack_session_ids": ["s1", "s2"],
            "haystack_dates": ["2023/05/28 (Sun) 15:46", "2023/05/29 (Mon) 10:00"],
            "haystack_sessions": [
                [
                    {"role": "user", "content": "I adopted a cat.", "has_answer": True},
                    {"role": "assistant", "content": "Is it a tabby cat?", "has_answer": True},
                ],
                [{"role": "user", "content": "It rains."}],
            ],
            "answer_session_ids": ["s1"],
        }
    ],
    "qmsum/Bed008.json": {
        "topic_list": [{"topic": "Pets", "relevant_text_span": [["0", "1"]]}],
        "general_query_list": [{"query": "Summarize the meeting.", "answer": "A cat."}],
        "specific_query_list": [
            {"query": "Which pet?", "answer": "A cat.", "relevant_text_span": [["0", "1"]]}
        ],
        "meeting_transcripts": [
            {"speaker": "PM", "content": "It is a cat."},
            {"speaker": "UI", "content": "A tabby."},
        ],
    },
    "beam/100K/1/chat.json": [
        {
            "batch_number": 1,
            "time_anchor": "March-15-2024",
            "turns": [
                [
                    {**ROLES, "id": 28, "index": "1,1", "content": "The sprint ends on March 29."},
                    {"role": "assistant", "id": 29, "content": "Then plan the cat for March 30."},
                ]
            ],
        }
    ],
    "beam/100K/1/probing_questions/probing_questions.json": {
        "abstention": [{"question": "Who?", "ideal_response": "Nobody says.", "rubric": []}],
        "knowledge_update": [
            {
                "question": "When does it end?",
                "source_chat_ids": {"original_info": [28], "updated_info": [29]},
            }
        ],
    },
}


def test_every_data_set_is_read(tmp_path: Path) -> None:
    for name, data in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data), "utf-8")
    for name, read in DATASETS.items():
        (case,) = read(tmp_path / name)
        assert case.evidence == {0, 1}, name
        assert all(turn.text for turn in case.turns), name


def test_swe_bench_is_read_as_it_is_published(tmp_path: Path) -> None:
    patch = (
        "diff --git a/shop/cart.py b/shop/cart.py\n--- a/shop/cart.py\n+++ b/shop/cart.py\n"
        "@@ -1 +1 @@\n-a\n+b\n"
        "diff --git a/shop/new.py b/shop/new.py\nnew file mode 100644\n--- /dev/null\n"
        "+++ b/shop/new.py\n@@ -0,0 +1 @@\n+c\n"
    )
    case = {
        "repo": "ada/shop",
        "instance_id": "ada__shop-1",
        "base_commit": "0" * 40,
        "patch": patch,
        "test_patch": "",
        "problem_statement": "The cart is empty.",
        "hints_text": "",
        "FAIL_TO_PASS": "[]",
    }
    path = tmp_path / "swe-bench-lite.jsonl"
    path.write_text(json.dumps(case) + "\n", "utf-8")

    (task,) = read_tasks(path)

    assert (task.name, task.project, task.text) == ("ada__shop-1", "ada/shop", "The cart is empty.")
    assert task.files == ("shop/cart.py",)  # what a fix adds is nowhere to be found before it


def test_everybody_keeps_to_the_size_and_is_scored_alike() -> None:
    turns = [Turn(text=f"Turn {number} about tea.", speaker="Ada") for number in range(60)]
    turns[30] = Turn(text="The cat is called Mia.", speaker="Ben")
    case = Case(turns=turns, question="What is the cat called?", evidence=frozenset([30]))
    scores: dict[str, float | None] = {}
    for name, maker in makers().items():
        text = maker(case, 100)
        assert tokens(text) <= 101, name
        scores[name] = evidence_kept(case, text)
    assert scores["foreword.fit"] == scores["BM25"] == 1.0
    assert scores["recent"] == scores["head + tail"] == 0.0
