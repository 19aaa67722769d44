"""What was said is found by a question: verbatim, in order, from all that is kept, on both
databases the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword import Session
from foreword.errors import UsageError
from foreword.relevance import read_question
from foreword.search.conversation_search import ConversationPlace, ConversationScope, take_in
from foreword.search.finding import find
from foreword.secrets.known_values import KnownValues
from foreword.store import search_index
from foreword.store.messages import INDEX_BATCH
from foreword.store.search_index import PASSAGE_CHARS, index_terms, passages_of
from foreword.store.urls import recall
from foreword.tokens import counter
from tests.examples import examples
from tests.sessions import Open
from tests.store.databases import KINDS, conversation_in, new_url, open_db

TALK = [
    ("user", "Let us look at the importer today."),
    ("assistant", "It retries every request three times in a loop."),
    ("user", "Why did the bill of the provider double in March?"),
    ("assistant", "The retry loop sent every failed call again; we dropped it on Monday."),
    ("user", "Good. Keep the backoff for timeouts only."),
    ("assistant", "Done: only timeouts are tried again, with a pause of two seconds."),
]
QUESTION = "why did we drop the retry loop?"


def said(role: str, text: str) -> dict[str, str]:
    return {"role": role, "content": text}


def fill(session: Session, around: int = 300) -> None:
    """A long conversation about other things, with the talk in the middle of it."""
    chatter = [said("user", f"Painted fence {number} in blue.") for number in range(around)]
    session.extend([*chatter, *[said(role, text) for role, text in TALK], *chatter])


@pytest.fixture(params=KINDS)
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Session]:
    with Session.open(new_url(request.param, tmp_path), root=tmp_path) as opened:
        yield opened


def test_a_passage_from_inside_a_tag_is_shown_inside_it_and_a_result_with_its_tool(
    session: Session,
) -> None:
    rows = [f"Row {number} of the page says nothing of note." for number in range(100)]
    page = [*rows, "Decision: the owner approves deleting the zebra archive.", *rows]
    use = {"type": "tool_use", "id": "1", "name": "WebFetch", "input": {"url": "https://a.example"}}
    answer = {"type": "tool_result", "tool_use_id": "1", "content": "The zebra archive is large."}
    session.extend(
        [
            said("user", "\n".join(["What is this?", "<page>", *page, "</page>", "Be brief."])),
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [answer]},
        ]
    )
    text = session.recall("did the owner approve deleting the zebra archive?", budget=700).text
    before = text.partition("Decision: the owner")[0]
    assert before.rpartition("<page>\n")[2].startswith("Row ")
    assert "</page>" in text
    assert "page https://a.example, 20" in text


def test_what_was_said_comes_back_word_for_word_with_numbers_and_handles(session: Session) -> None:
    fill(session)
    package = session.recall(QUESTION, budget=300)
    assert TALK[3][1] in package.text
    assert "message 304, assistant, 20" in package.text
    assert package.report.total_tokens == counter("o200k").count(package.text) <= 300
    assert "fence 7 " not in package.text
    handle = package.text.split("(")[1].split(")")[0]
    assert TALK[3][1].encode() in recall(handle, session.root, session.url)


def test_messages_that_were_summed_up_are_found_and_the_summary_is_not_needed(
    open_session: Open,
) -> None:
    session = open_session(compress_at=2_000, compress_to=500, window=4_000)
    fill(session)
    session.compress()
    assert session.compressions()
    assert TALK[3][1] in session.recall(QUESTION, budget=300).text
    session.undo()
    assert TALK[3][1] in session.recall(QUESTION, budget=300).text


def test_both_databases_give_the_same_answer(tmp_path: Path) -> None:
    texts = list[str]()
    for kind in KINDS:
        with Session.open(new_url(kind, tmp_path), root=tmp_path) as session:
            fill(session, 400)
            package = session.recall(QUESTION, budget=600)
        lines = [
            line for line in package.text.splitlines() if "fw_" not in line and ", 20" not in line
        ]
        texts.append("\n".join(lines))
    assert texts[0] == texts[1]
    assert TALK[3][1] in texts[0]


@pytest.mark.parametrize("count", [1, INDEX_BATCH - 1, INDEX_BATCH + 1])
def test_nothing_that_was_appended_is_missing_from_an_answer(
    open_session: Open, count: int
) -> None:
    session = open_session(auto_compress=False)
    for number in range(count):
        session.append(said("user", f"The walrus{number} sleeps."))
    for number in {0, count // 2, count - 1}:
        assert f"walrus{number} " in session.recall(f"walrus{number}").text
    session.append(said("assistant", "The ocelot wakes."))
    assert "ocelot" in session.recall("ocelot").text


def test_an_append_that_fails_leaves_nothing_in_the_index(session: Session) -> None:
    session.append(said("user", "The heron stands."))
    with pytest.raises(ZeroDivisionError):
        session.extend(said("user", f"The gecko{1 // (300 - n)} runs.") for n in range(400))
    assert session.recall("gecko").text == ""
    assert "heron" in session.recall("heron").text


def test_a_store_from_before_the_index_is_taken_in_by_its_first_question(
    open_session: Open,
) -> None:
    session = open_session(auto_compress=False)
    fill(session, 500)
    search_index.drop(session.db, search_index.CONVERSATION, [str(session.conversation.id)])
    session.append(said("user", "one more"))
    told = list[int]()
    assert TALK[3][1] in session.recall(QUESTION, budget=300, progress=told.append).text
    assert told[-1] == 2 * 500 + len(TALK) + 1


def test_a_secret_is_not_found_and_not_shown_whenever_it_became_one(session: Session) -> None:
    session.append(said("user", "The door opens with swordfish4711 at night."))
    assert "swordfish4711" in session.recall("swordfish4711").text
    session.set_variable("password", "swordfish4711", "login")
    assert session.recall("swordfish4711").text == ""
    door = session.recall("when does the door open").text
    assert "at night" in door
    assert "swordfish4711" not in door
    stored = search_index.candidates(
        session.db,
        read_question("swordfish4711"),
        search_index.CONVERSATION,
        search_index.sources(session.db, search_index.CONVERSATION),
        most=10,
    )
    assert stored.entries == ()


def test_a_question_with_the_words_of_a_filter_finds_what_was_said_alone(session: Session) -> None:
    session.append(said("user", "The heron stands."))
    assert session.recall("conversation_ conversation_1").text == ""
    session.append(said("user", "The index calls it conversation_1."))
    assert "The index calls it" in session.recall("conversation_1").text


def test_conversations_of_other_workflows_stay_there(session: Session, tmp_path: Path) -> None:
    session.append(said("user", "The heron stands."))
    with Session.open(session.url, "other", root=tmp_path) as other:
        other.append(said("user", "The gecko runs."))
        assert other.recall("heron").text == ""
    with Session.open(session.url, root=tmp_path, conversation="second") as second:
        second.append(said("user", "The heron flies."))
        found = second.recall("heron").text
    assert "# message 1 (" in found
    assert "# conversation main, message 1 (" in found


def test_a_store_that_can_not_be_written_answers_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    with Session.open(f"sqlite:///{folder}/a.db", root=tmp_path) as session:
        for role, text in TALK:
            session.append(said(role, text))
    (folder / "a.db").chmod(0o400)
    folder.chmod(0o500)
    try:
        with Session.open(f"sqlite:///{folder}/a.db", root=tmp_path) as session:
            package = session.recall(QUESTION, budget=300)
    finally:
        folder.chmod(0o700)
    assert TALK[3][1] in package.text
    assert "is read-only" in package.report.warnings[0]


def test_a_long_message_is_shown_by_the_part_that_answers(open_session: Open) -> None:
    session = open_session(auto_compress=False)
    filler = "".join(f"Row {number} of the table is plain.\n" for number in range(3_000))
    session.append(said("user", f"{filler}The kiln reaches cone six after nine hours.\n{filler}"))
    package = session.recall("when does the kiln reach cone six", budget=700)
    assert "cone six after nine hours" in package.text
    assert "[part of message 1 left out: foreword recall fw_" in package.text
    assert package.report.total_tokens <= 700


def test_a_question_without_words_is_an_error_and_one_about_nothing_is_told(
    open_session: Open,
) -> None:
    session = open_session()
    session.append(said("user", "hello"))
    with pytest.raises(UsageError, match="say what to recall"):
        session.recall("  ")
    package = session.recall("zebra")
    assert package.text == ""
    assert package.report.warnings == ("nothing was said about it in main",)


@given(
    st.lists(st.text(max_size=80), min_size=1, max_size=12),
    st.text(min_size=1, max_size=40).filter(str.strip),
    st.integers(60, 900),
)
@settings(max_examples=examples(8), deadline=None)
def test_whatever_was_said_and_asked_an_answer_is_within_its_budget(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], question: str, budget: int
) -> None:
    folder = tmp_path_factory.mktemp("said")
    with Session.open(f"sqlite:///{folder}/a.db", root=folder) as session:
        session.extend([said("user", text) for text in texts])
        package = session.recall(question, budget=budget)
    assert counter("o200k").count(package.text) == package.report.total_tokens <= budget


@given(st.text(max_size=5_000))
def test_the_passages_of_a_text_are_the_text(text: str) -> None:
    passages = passages_of(text * 3)
    assert "".join(passages) == text * 3
    assert all(len(passage) <= PASSAGE_CHARS for passage in passages)


@given(st.text(max_size=300))
def test_every_term_can_be_asked_for_in_both_databases(text: str) -> None:
    for term in index_terms(text):
        assert term == "".join(term.split())
        assert not set(term) & set("\"'\\:()&|!*<>-^+.,")


def test_terms_of_any_alphabet_are_kept_and_found_by_both_databases(tmp_path: Path) -> None:
    texts = [
        "Große Öfen brennen",
        "窯は六時間で熱くなる",
        "Печь горит",
        "فرن حار",
        "it's 4711² done",
        "and or not near",
    ]
    for kind in KINDS:
        with open_db(new_url(kind, tmp_path)) as db:
            conversation = conversation_in(db)
            from foreword.store.messages import append
            from tests.store.databases import text_message

            append(db, conversation.id, [(text_message(text), 5, False) for text in texts])
            scope = ConversationScope(conversation=conversation, name="", secrets=KnownValues())
            take_in(db, [scope])
            for text in texts[:5]:
                found = find(
                    [ConversationPlace(db, [scope])],
                    read_question(text),
                    budget=500,
                    counter=counter("o200k"),
                )
                assert text in "".join(hit.text for hit in found), (kind, text)


def test_who_asks_in_the_middle_of_a_turn_is_not_given_the_question_back(
    open_session: Open,
) -> None:
    session = open_session()
    session.append({"role": "user", "content": "The kiln is fired to cone six."})
    session.append({"role": "assistant", "content": "Noted."})
    session.append({"role": "user", "content": "To which cone is the kiln fired?"})
    assert "To which cone" in session.recall("which cone is the kiln fired to?").text
    call = {"type": "tool_use", "id": "c1", "name": "recall", "input": {"question": "kiln cone"}}
    session.append({"role": "assistant", "content": [call]})
    text = session.recall("which cone is the kiln fired to?").text
    assert "cone six" in text
    assert "To which cone" not in text
    assert "kiln cone" not in text


def test_what_was_said_again_in_the_same_words_takes_no_room(open_session: Open) -> None:
    session = open_session()
    for _ in range(30):
        session.append({"role": "user", "content": "Is the kiln cold?"})
        session.append({"role": "assistant", "content": "The kiln is cold."})
    session.append({"role": "user", "content": "The kiln was cold because of the fuse."})
    text = session.recall("Why was the kiln cold?", 300).text
    assert "because of the fuse" in text
    assert text.count("The kiln is cold.") == 1


def tool_work(call: str, result: str, *, identity: str) -> list[dict[str, object]]:
    """A call of a tool and its result."""
    use = {"type": "tool_use", "id": identity, "name": "run", "input": {"command": call}}
    answer = {"type": "tool_result", "tool_use_id": identity, "content": result}
    return [
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [answer]},
    ]


def test_a_fact_inside_a_long_result_is_found_before_the_talk_around_it(open_session: Open) -> None:
    session = open_session()
    lines = [f"def step_{number}(): return fire_kiln({number})" for number in range(400)]
    lines[200] = "KILN_LIMIT = 1280  # degrees; the shelves bend above this limit"
    session.extend(tool_work("cat kiln.py", "\n".join(lines), identity="c1"))
    for number in range(12):
        session.append(said("assistant", f"Now the kiln: I look at step {number} and its fire."))
        session.append(said("user", "Good, go on with the kiln, and mind the shelves."))

    text = session.recall("above which limit of the kiln do the shelves bend?", budget=400).text

    assert lines[200] in text


def test_what_was_said_comes_before_a_result_that_has_no_more_of_the_question(
    open_session: Open,
) -> None:
    session = open_session()
    reason = "The timeout was raised, since the kiln cools for five minutes."
    session.extend([said("user", "Why so slow?"), said("assistant", reason)])
    listing = "\n".join(f"timeout raised {number}" for number in range(40))
    for number in range(12):
        session.extend(tool_work("sleep", f"{number}\n{listing}", identity=f"c{number}"))

    text = session.recall("why was the timeout raised?", budget=200).text

    assert reason in text


def test_a_very_long_word_is_found_and_one_beyond_that_harms_nothing(session: Session) -> None:
    digest = "ab1" * 100
    session.extend([said("user", f"The digest is {digest}."), said("user", "Nothing else.")])
    assert digest in session.recall(digest, budget=500).text
    assert session.recall(digest * 10, budget=500).text == ""  # more than a word of the index holds
