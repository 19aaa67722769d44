"""What was said about a question in a workflow's conversations, as an answer within a budget.

Finding it is `search.conversation_search`'s business; here is what a session knows and that does
not: its secrets, its counter, and what its conversations are called.
"""

from __future__ import annotations

from collections.abc import Callable

from foreword.engine.package import Package
from foreword.errors import UsageError
from foreword.messages.message import texts_in
from foreword.recipe.budget import whole_number
from foreword.relevance import read_question
from foreword.search import conversation_search
from foreword.search.conversation_search import ConversationPlace, ConversationScope
from foreword.search.finding import find
from foreword.search.hit import answer
from foreword.secrets.known_values import KnownValues
from foreword.store import messages, originals, search_index
from foreword.store.database import LARGEST_NUMBER, Database
from foreword.store.messages import Conversation
from foreword.store.workflows import Workflow
from foreword.tokens import Counter

# A page or two: who asks in the middle of a piece of work has little room to spare.
ANSWER_TOKENS = 1_500
# Messages that are looked through for the beginning of a turn; in a longer one only its newest
# message is passed over.
MOST_OF_A_TURN = 40
NOTHING_SAID = "nothing was said about it in {name}"
READ_ONLY = "{store} is read-only: `recall` finds nothing by the handles of this answer"


def recall(
    db: Database,
    *,
    workflow: Workflow,
    conversation: Conversation,
    secrets: KnownValues,
    counter: Counter,
    question: str,
    budget: int | str | None,
    progress: Callable[[int], None],
) -> Package:
    """What was said about a question in the conversations of a workflow, the one that is open
    first."""
    if not question.strip():
        raise UsageError("say what to recall", hint="a question, or a few words of what was said")
    tokens = whole_number(budget, "budget") or ANSWER_TOKENS
    scopes = _scopes(db, workflow, conversation, secrets)
    if not db.read_only:
        conversation_search.take_in(db, scopes, progress)
    asked = read_question(question)
    place = ConversationPlace(db, scopes)
    hits = find([place], asked, budget=tokens, counter=counter)
    notes = list[str]()
    if not hits:
        notes.append(NOTHING_SAID.format(name=workflow.name))
    elif db.read_only:
        notes.append(READ_ONLY.format(store=db.name))
    package = answer(
        hits, question=question, budget=tokens, counter=counter, recipe="recall", notes=notes
    )
    if package.originals and not db.read_only:
        with db.transaction():
            originals.write(db, package.originals)
    return package


def waiting_messages(db: Database, workflow: Workflow) -> int:
    """How many messages of a workflow are not in the index yet."""
    conversations = messages.conversations_of(db, workflow.id)
    return sum(search_index.waiting_messages(db, each.id) for each in conversations)


def _open_turn(db: Database, conversation: Conversation) -> int:
    """The first message of a turn that waits for the result of a call: whoever asks in the middle
    of one has it before them, and its question is no answer. Without one, behind all there is."""
    newest = messages.before(db, conversation.id, LARGEST_NUMBER, MOST_OF_A_TURN)
    if not newest or not newest[-1].message.calls:
        return LARGEST_NUMBER
    for stored in reversed(newest):
        if stored.message.role == "user" and texts_in(stored.message):
            return stored.seq
    return newest[-1].seq


def _scopes(
    db: Database, workflow: Workflow, conversation: Conversation, secrets: KnownValues
) -> list[ConversationScope]:
    """The conversations of a workflow, one of them first."""
    end = _open_turn(db, conversation)
    scopes = [ConversationScope(conversation=conversation, name="", secrets=secrets, end=end)]
    for other in messages.conversations_of(db, workflow.id):
        if other.id != conversation.id:
            called = f"conversation {other.name}"
            scopes.append(ConversationScope(conversation=other, name=called, secrets=secrets))
    return scopes
