"""The data sets of `benchmarks.evals` are read as their authors write them."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.evals.cases import Case, Turn, evidence_kept, tokens
from benchmarks.evals.datasets import DATASETS
from benchmarks.evals.makers import makers

TURN = {"speaker": "Ada", "dia_id": "D1:1", "text": "I adopted a cat."}
OTHER = {"speaker": "Ben", "dia_id": "D1:2", "clean_text": "How nice."}
ASKED = {"question": "Which pet does Ada have?", "evidence": ["D1:1"], "category": 1}
FILES = {
    "locomo/locomo10.json": [
        {
            "conversation": {"session_1": [TURN], "session_1_date_time": "1 pm on 8 May, 2023"},
            "qa": [ASKED, {**ASKED, "category": 5}],
        }
    ],
    "realtalk/Chat_1.json": {"session_1": [TURN, OTHER], "qa": [ASKED]},
    "longmemeval/longmemeval_s.json": [
        {
            "question": "Which pet?",
            "haystack_session_ids": ["s1"],
            "haystack_dates": ["2023/05/28 (Sun) 15:46"],
            "haystack_sessions": [
                [{"role": "user", "content": "I adopted a cat.", "has_answer": True}]
            ],
        }
    ],
    "qmsum/Bed008.json": {
        "meeting_transcripts": [{"speaker": "PM", "content": "It is a cat."}],
        "specific_query_list": [{"query": "Which pet?", "relevant_text_span": [["0", "0"]]}],
    },
    "beam/100K/1/chat.json": [
        {"turns": [[{"role": "user", "id": 28, "content": "The sprint ends on March 29."}]]}
    ],
    "beam/100K/1/probing_questions/probing_questions.json": {
        "knowledge_update": [{"question": "When?", "source_chat_ids": {"updated_info": [28]}}]
    },
}


def test_every_data_set_is_read(tmp_path: Path) -> None:
    for name, data in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data), "utf-8")
    for name, read in DATASETS.items():
        (case,) = read(tmp_path / name)
        assert case.evidence == {0}, name
        assert case.turns[0].text


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
