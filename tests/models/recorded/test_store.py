"""What is stored is read back as it was, once, and a person's acts are found without a look at anybody else's."""

import threading

import pytest
from sqlalchemy import text
from sqlmodel import SQLModel

from models.recorded.database import Database, DatabaseError
from models.recorded.store import Store
from models.recorded.tables import ActRow, ChangeRow, CorrectionRow, ThreadRow, VerdictRow


@pytest.fixture
def store(database: Database) -> Store:
    return Store(database)


def act(key: str, at: float, *, actor_id: int = 9, number: int = 7, kind: str = "comment", **more: object) -> ActRow:
    return ActRow(
        key=key, installation_id=5, repository_id=2, number=number, kind=kind, at=at, actor_id=actor_id, **more
    )


def verdict(at: float, number: int | None = 7, person_id: int | None = None) -> VerdictRow:
    return VerdictRow(
        repository_id=2,
        number=number,
        person_id=person_id,
        at=at,
        lane="unsure",
        verdict={"p_agent": 0.41},
        readings={"bullet_share": None},
        model="seed-1",
        policy="sha256:0",
    )


def change(kind: str = "add_label", target: str = "burst", detail: str = "on hold", number: int = 7) -> ChangeRow:
    return ChangeRow(repository_id=2, number=number, kind=kind, target=target, detail=detail, wanted_at=10.0)


def same(one: SQLModel | None, other: SQLModel) -> bool:
    return one is not None and one.model_dump() == other.model_dump()


# --- repositories and people --------------------------------------------------


def test_a_repository_keeps_its_policy_under_a_new_name(store: Store) -> None:
    assert store.repository(2) is None
    row = store.see_repository(2, 5, "acme/widgets", False, False)
    assert (row.id, row.full_name, row.policy_text) == (2, "acme/widgets", None)
    store.set_policy(2, policy_text="version: 1", policy_source="acme/widgets", policy_read_at=10.0)
    store.set_guide(2, {"templates": ["What?"]}, 11.0)
    renamed = store.see_repository(2, 6, "acme/gadgets", True, True)
    assert (renamed.full_name, renamed.installation_id, renamed.private, renamed.archived) == (
        "acme/gadgets", 6, True, True,
    )  # fmt: skip
    assert (renamed.policy_text, renamed.policy_read_at) == ("version: 1", 10.0)
    assert (renamed.guide, renamed.guide_read_at) == ({"templates": ["What?"]}, 11.0)
    store.see_repository(3, 5, "acme/bolts", False, False)
    assert [one.full_name for one in store.repositories()] == ["acme/bolts", "acme/gadgets"]


def test_only_known_columns_of_known_rows_are_set(store: Store) -> None:
    with pytest.raises(DatabaseError, match="no such row"):
        store.set_policy(2, policy_text="version: 1")
    store.see_repository(2, 5, "acme/widgets", False, False)
    with pytest.raises(DatabaseError, match="no column policy"):
        store.set_policy(2, policy="version: 1")


def test_a_person_keeps_the_history_under_a_new_login(store: Store) -> None:
    assert store.person(9) is None
    store.see_person(9, "someone", "User")
    store.set_history(9, 1.0, [{"kind": "pull_request"}], 12.0)
    row = store.see_person(9, "someone-else", "User")
    assert (row.login, row.created_at, row.history, row.history_read_at) == (
        "someone-else", 1.0, [{"kind": "pull_request"}], 12.0,
    )  # fmt: skip
    assert same(store.person(9), row)


def test_what_is_known_is_not_written_again(database: Database, store: Store) -> None:
    """A commit costs a flush to the disk; most deliveries tell nothing new of the repository, person and thread."""
    thread = ThreadRow(repository_id=2, number=7, installation_id=5, title="A change")

    def see() -> None:
        store.see_repository(2, 5, "acme/widgets", False, False)
        store.see_person(9, "someone", "User")
        store.save_thread(ThreadRow(**thread.model_dump()))

    see()
    with database.write() as session:
        if database.postgres:
            session.connection().execute(text("LOCK repository, person, thread IN EXCLUSIVE MODE"))
        blocked = threading.Thread(target=see)  # a writer would wait for us
        blocked.start()
        blocked.join(4)
        assert not blocked.is_alive()


def test_text_of_strangers_that_no_database_takes_is_stored(store: Store) -> None:
    store.see_person(9, "nul\0", "User")
    store.see_person(9, "nul\0", "User")
    store.save_thread(
        ThreadRow(repository_id=2, number=7, installation_id=5, title="half \ud83d", labels=["\0", "\ud83d"])
    )
    store.add_acts([act("comment:1", 1.0, body="\0 and \udc00 and é")])
    found = store.thread(2, 7)
    assert found is not None
    assert found.title is not None
    assert found.title.startswith("half ")
    assert found.labels == ["\0", "\ud83d"]
    (stored,) = store.acts_of_thread(2, 7)
    assert stored.body is not None
    assert stored.body.endswith(" and é")


# --- threads ------------------------------------------------------------------


def test_a_thread_is_saved_whole(store: Store) -> None:
    row = ThreadRow(
        repository_id=2,
        number=7,
        installation_id=5,
        author_id=9,
        draft=None,
        labels=["bug"],
        labelled={"burst": "on hold"},
        files=[{"path": "a.py"}],
        head_sha="abc",
        updated_at=5.5,
    )
    store.save_thread(row)
    found = store.thread(2, 7)
    assert same(found, ThreadRow(**row.model_dump()))
    assert found is not None
    found.labels, found.files, found.open, found.draft = [], None, False, True
    store.save_thread(found)
    assert same(store.thread(2, 7), found)
    assert store.thread(2, 8) is None


def test_threads_are_found_by_commit_and_by_state(store: Store) -> None:
    for repository, number, still_open in ((2, 7, True), (2, 8, False), (3, 1, True)):
        store.save_thread(
            ThreadRow(repository_id=repository, number=number, installation_id=5, open=still_open, head_sha="abc")
        )
    assert [row.number for row in store.threads_by_sha(2, "abc")] == [7, 8]
    assert store.threads_by_sha(2, "def") == []
    assert [(row.repository_id, row.number) for row in store.threads()] == [(2, 7), (3, 1)]
    assert [row.number for row in store.threads(repository_id=2)] == [7]
    assert [row.number for row in store.threads(open_only=False, repository_id=2)] == [7, 8]


def test_merged_work_of_a_person_is_counted_here_only(store: Store) -> None:
    for number, repository, author, merged, kind in (
        (1, 2, 9, True, "pull"),
        (2, 2, 9, None, "pull"),
        (3, 2, 9, False, "pull"),
        (4, 2, 8, True, "pull"),
        (5, 3, 9, True, "pull"),
        (6, 2, 9, True, "issue"),
    ):
        row = ThreadRow(repository_id=repository, number=number, installation_id=5, kind=kind, merged=merged)
        row.author_id = author
        store.save_thread(row)
    assert store.merged_by(2, 9) == 1


# --- acts ---------------------------------------------------------------------


def test_an_act_is_stored_once(store: Store) -> None:
    assert store.add_acts([]) == 0
    assert store.add_acts([act("comment:1", 1.0), act("comment:1", 1.0), act("comment:2", 2.0)]) == 2
    assert store.add_acts([act("comment:2", 99.0), act("comment:3", 3.0)]) == 1
    assert [(row.key, row.at) for row in store.acts_of_thread(2, 7)] == [
        ("comment:1", 1.0),
        ("comment:2", 2.0),
        ("comment:3", 3.0),
    ]


def test_the_newest_acts_are_returned_oldest_first(store: Store) -> None:
    store.add_acts([act(f"comment:{at}", float(at)) for at in (5, 3, 1, 4, 2)])
    store.add_acts([act("comment:other", 3.5, number=8), act("comment:stranger", 3.6, actor_id=1)])
    assert [row.at for row in store.acts_of_thread(2, 7, limit=3)] == [3.6, 4.0, 5.0]
    assert [row.at for row in store.acts_of_person(5, 9, 3.0)] == [3.0, 3.5, 4.0, 5.0]
    assert [row.at for row in store.acts_of_person(5, 9, 0.0, limit=2)] == [4.0, 5.0]
    assert store.acts_of_person(6, 9, 0.0) == []


def test_acts_are_counted_by_time_and_kind(store: Store) -> None:
    store.add_acts([act(f"comment:{at}", float(at)) for at in range(10)])
    store.add_acts([act("labeled:1", 5.0, kind="labeled"), act("review:1", 5.0, kind="review")])
    assert store.count_acts(5, 9, 2.0, 5.0, {"comment"}) == 4
    assert store.count_acts(5, 9, 2.0, 5.0, {"comment", "review"}) == 5
    assert store.count_acts(5, 8, 2.0, 5.0, {"comment"}) == 0


def test_old_text_of_acts_is_dropped(store: Store) -> None:
    store.add_acts([act(f"comment:{number}", 1.0, body="text") for number in range(501)])
    store.add_acts([act("comment:new", 9.0, body="text")])
    assert store.drop_act_bodies(5.0) == 501
    assert store.drop_act_bodies(5.0) == 0
    assert [row.body for row in store.acts_of_person(5, 9, 5.0)] == ["text"]


def test_the_same_acts_from_many_threads_are_stored_once(store: Store) -> None:
    keys = [f"comment:{number}" for number in range(50)]
    gate, new, failed = threading.Barrier(4), [], []

    def add(number: int) -> None:
        gate.wait()
        try:
            new.append(store.add_acts([act(key, 1.0) for key in (keys if number % 2 else keys[::-1])]))
        except DatabaseError as error:
            failed.append(error)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert sum(new) == 50


def test_acts_of_a_person_are_read_as_a_range_of_an_index(database: Database, store: Store) -> None:
    """The database's own plans: no full scan among 20,000 acts of others."""
    for start in range(0, 20_000, 5_000):
        store.add_acts(
            [act(f"c:{number}", float(number), actor_id=number % 500) for number in range(start, start + 5_000)]
        )
    ours = "FROM act WHERE installation_id = 5 AND actor_id = 9 AND at >= 100"
    thread = "FROM act WHERE repository_id = 2 AND number = 7"
    queries = {
        f"SELECT * {ours} ORDER BY at DESC, id DESC LIMIT 2000": "actor_id",
        f"SELECT count(*) {ours} AND at <= 19000 AND kind IN ('comment', 'review')": "actor_id",
        f"SELECT * {thread} ORDER BY at DESC, id DESC LIMIT 2000": "repository_id",
        "SELECT id FROM act WHERE body IS NOT NULL AND at < 5 LIMIT 500": "ix_act_body_kept",
    }
    for query, key in queries.items():
        with database.write() as session:
            connection = session.connection()
            if database.postgres:
                connection.execute(text("ANALYZE act"))
                plan = "\n".join(connection.scalars(text(f"EXPLAIN {query}")))
                assert "Seq Scan" not in plan
            else:
                plan = "\n".join(row[3] for row in connection.execute(text(f"EXPLAIN QUERY PLAN {query}")))
                assert "SCAN act" not in plan
            assert key in plan


# --- verdicts and changes -----------------------------------------------------


def test_a_verdict_its_changes_and_its_thread_are_recorded_together(store: Store) -> None:
    thread = ThreadRow(repository_id=2, number=7, installation_id=5, lane="unsure")
    number = store.record(verdict(10.0), [change(), change("comment", "", "text")], thread)
    found = store.last_verdict(2, 7)
    assert found is not None
    assert (found.id, found.verdict, found.readings) == (number, {"p_agent": 0.41}, {"bullet_share": None})
    assert [(row.kind, row.state, row.verdict_id) for row in store.wanted(2, 7)] == [
        ("add_label", "wanted", number),
        ("comment", "wanted", number),
    ]
    assert same(store.thread(2, 7), thread)


def test_a_change_that_is_no_longer_wanted_is_superseded(database: Database, store: Store) -> None:
    store.record(verdict(10.0), [change(), change("comment", "", "old")], None)
    kept, old = store.wanted(2, 7)
    store.record(verdict(20.0), [change(), change("comment", "", "new")], None)
    assert [(row.id == kept.id, row.detail) for row in store.wanted(2, 7)] == [(True, "on hold"), (False, "new")]
    with database.read() as session:
        refused = session.get_one(ChangeRow, old.id)
    assert (refused.state, refused.error) == ("refused", "superseded")
    store.record(verdict(30.0), [], None)
    assert store.wanted(2, 7) == []


def test_other_threads_changes_are_left_alone(store: Store) -> None:
    store.record(verdict(10.0, number=8), [change(number=8)], None)
    store.record(verdict(20.0), [], None)
    assert [row.number for row in store.wanted(2, 8)] == [8]


def test_a_verdict_on_a_commenter_changes_threads_without_superseding(store: Store) -> None:
    store.record(verdict(10.0), [change("comment", "", "text")], None)
    store.record(verdict(20.0, number=None, person_id=9), [change(), change(number=8)], None)
    store.record(verdict(21.0, number=None, person_id=9), [change(), change(number=8)], None)
    assert [row.kind for row in store.wanted(2, 7)] == ["comment", "add_label"]
    assert [row.kind for row in store.wanted(2, 8)] == ["add_label"]
    last = store.last_verdict(2, person_id=9)
    assert last is not None
    assert last.at == 21.0
    assert store.last_verdict(2, person_id=8) is None


def test_changes_are_made_or_refused_once(database: Database, store: Store) -> None:
    store.record(verdict(10.0), [change(), change("comment", "", "text")], None)
    label, comment = store.wanted(2, 7)
    assert label.id is not None
    assert comment.id is not None
    store.made(label.id, 11.0)
    store.refused(comment.id, "locked", 12.0)
    assert store.wanted(2, 7) == []
    with database.read() as session:
        made, refused = session.get_one(ChangeRow, label.id), session.get_one(ChangeRow, comment.id)
    assert (made.state, made.made_at, made.error) == ("made", 11.0, None)
    assert (refused.state, refused.made_at, refused.error) == ("refused", 12.0, "locked")


def test_changes_without_a_verdict_are_wanted_once(store: Store) -> None:
    thread = ThreadRow(repository_id=2, number=7, installation_id=5, labelled={"burst": "on hold"})
    store.want([change()], thread)
    store.want([change(), change("lock", "", "")], thread)
    assert [(row.kind, row.verdict_id) for row in store.wanted(2, 7)] == [("add_label", None), ("lock", None)]
    assert same(store.thread(2, 7), thread)


def test_verdicts_are_found_by_id(store: Store) -> None:
    ids = [store.record(verdict(float(at)), [], None) for at in range(3)]
    assert {number: row.at for number, row in store.verdicts([ids[0], ids[2], 999]).items()} == {
        ids[0]: 0.0,
        ids[2]: 2.0,
    }
    assert store.verdicts([]) == {}


def test_a_broken_record_leaves_nothing(store: Store) -> None:
    broken = change()
    broken.kind = None  # type: ignore[assignment]
    with pytest.raises(DatabaseError):
        store.record(verdict(10.0), [broken], ThreadRow(repository_id=2, number=7, installation_id=5))
    assert store.last_verdict(2, 7) is None
    assert store.thread(2, 7) is None


# --- corrections --------------------------------------------------------------


def test_a_correction_is_stored_once(store: Store) -> None:
    def word(key: str, at: float) -> CorrectionRow:
        return CorrectionRow(key=key, repository_id=2, number=7, kind="label_removed", label="burst", by="me", at=at)

    assert store.add_correction(word("unlabeled:2", 2.0)) is True
    assert store.add_correction(word("unlabeled:1", 1.0)) is True
    assert store.add_correction(word("unlabeled:2", 3.0)) is False
    assert [row.at for row in store.corrections(2, 7)] == [1.0, 2.0]
    assert store.corrections(2, 8) == []
