"""What the timeline lists and what a delivery tells are one act, not two."""

import pytest

from models.recorded.database import Database
from models.recorded.store import Store
from models.recorded.tables import ActRow, ThreadRow
from triage.forge import translate
from triage.intake import note_timeline

PLACE = {"installation_id": 70, "repository_id": 700, "number": 1}
AT = "2026-11-30T10:00:00Z"
ANN = {"login": "ann", "id": 3, "type": "User"}
LISTED = [
    {"event": "commented", "id": 5, "user": ANN, "actor": ANN, "created_at": AT, "body": "Why?"},
    {"event": "reviewed", "id": 6, "user": ANN, "submitted_at": AT, "body": ""},
    {"event": "committed", "sha": "abc", "message": "Fix", "committer": {"date": AT}},
    {"event": "line-commented", "comments": [{"id": 7, "user": ANN, "created_at": AT, "body": "Here"}]},
]
DELIVERED = ["comment:5", "review:6", "push:700:1:abc", "review_comment:7"]


@pytest.mark.parametrize("delivered", DELIVERED)
def test_an_act_that_was_delivered_is_not_listed_again(database: Database, delivered: str) -> None:
    """Whichever came first, the other adds nothing."""
    store = Store(database)
    store.add_acts([ActRow(key=delivered, kind="comment", at=1.0, **PLACE)])
    added = note_timeline(store, ThreadRow(**PLACE), translate.timeline(LISTED, "ann"))
    assert added == len(DELIVERED) - 1


def test_a_listed_act_knows_who_did_it(database: Database) -> None:
    """The author's own words are told from other people's by the account's number, not by its name."""
    store = Store(database)
    note_timeline(store, ThreadRow(**PLACE), translate.timeline(LISTED, "ann"))
    assert {act.actor_id for act in store.acts_of_thread(700, 1) if act.kind != "commit"} == {ANN["id"]}
    assert {act.key for act in store.acts_of_thread(700, 1)} == set(DELIVERED)


def test_what_deliveries_know_by_their_time_alone_is_left_to_them(database: Database) -> None:
    """A listed closing has no identity that its delivery shares: it would count twice."""
    closed = [{"event": "closed", "id": 9, "actor": ANN, "created_at": AT}]
    assert note_timeline(Store(database), ThreadRow(**PLACE), translate.timeline(closed, "ann")) == 0
