"""The port from saved JSON: the same facts as live, and every write remembered."""

import json
from pathlib import Path
from typing import Any

import pytest

from triage.forge.live import LiveForge
from triage.forge.port import ForgeError, Gone, Present, RepositoryRef
from triage.forge.recorded import RecordedForge, Written

WIDGETS = RepositoryRef(70, 42, "acme/widgets")


def test_saved_answers_read_as_the_live_ones(github: Any, forge: LiveForge, tmp_path: Path) -> None:
    reach = forge._reach(WIDGETS)
    for path in ("pulls/7/files", "pulls/7/commits", "issues/7/timeline", "issues/7", "collaborators/maria/permission"):
        saved = tmp_path / "repos/acme/widgets" / f"{path}.json"
        saved.parent.mkdir(parents=True, exist_ok=True)
        saved.write_text(json.dumps(reach.get("any", f"/{path}").body), encoding="utf-8")
    policy = tmp_path / "repos/acme/widgets/contents/.github/triage.yml"
    policy.parent.mkdir(parents=True)
    policy.write_text("version: 1\n", encoding="utf-8")
    recorded = RecordedForge.from_folder(tmp_path)
    live = forge.opening(WIDGETS, 7, "someone")
    replayed = recorded.opening(WIDGETS, 7, "someone")
    assert (replayed.changes, replayed.timeline) == (live.changes, live.timeline)
    assert replayed.author is None
    assert recorded.present(WIDGETS, 7) == forge.present(WIDGETS, 7)
    assert recorded.role(WIDGETS, "maria") == "maintain"
    assert recorded.text(WIDGETS, ".github/triage.yml") == "version: 1\n"


def test_what_was_not_saved_is_unknown() -> None:
    forge = RecordedForge()
    opening = forge.opening(WIDGETS, 7, "someone")
    assert (opening.changes.files, opening.changes.commits, opening.timeline, opening.author) == (None,) * 4
    assert forge.changes(WIDGETS, 7).truncated is False
    assert forge.present(WIDGETS, 7) == Present(frozenset(), True, False, None)
    assert forge.text(WIDGETS, "a") is forge.organisation_text(WIDGETS, "a") is forge.role(WIDGETS, "a") is None
    assert forge.guide(WIDGETS).templates == ()


def test_writes_are_remembered_and_seen() -> None:
    forge = RecordedForge()
    assert forge.add_label(WIDGETS, 7, "Hold", "#fff", "why") == "Hold"
    assert forge.present(WIDGETS, 7).labels == {"Hold"}
    forge.remove_label(WIDGETS, 7, "hold")
    assert forge.present(WIDGETS, 7).labels == frozenset()
    key = forge.post_comment(WIDGETS, 7, "<!-- m --> one")
    assert forge.own_comment(WIDGETS, 7, "<!-- m -->") == key
    assert forge.own_comment(WIDGETS, 8, "<!-- m -->") is None
    forge.edit_comment(WIDGETS, key, "two")
    assert forge.own_comment(WIDGETS, 7, "<!-- m -->") is None
    forge.lock(WIDGETS, 7)
    assert forge.present(WIDGETS, 7).locked is True
    assert forge.written == [
        Written("add_label", 42, 7, "Hold"),
        Written("remove_label", 42, 7, "hold"),
        Written("post_comment", 42, 7, "<!-- m --> one"),
        Written("edit_comment", 42, 7, "two"),
        Written("lock", 42, 7, ""),
    ]
    with pytest.raises(Gone):
        forge.edit_comment(WIDGETS, 99, "three")


def test_a_file_that_is_no_answer_is_named(tmp_path: Path) -> None:
    (tmp_path / "users").mkdir()
    (tmp_path / "users/x.json").write_text("{", encoding="utf-8")
    with pytest.raises(ForgeError, match=r"users/x\.json: not a saved answer"):
        RecordedForge.from_folder(tmp_path)
