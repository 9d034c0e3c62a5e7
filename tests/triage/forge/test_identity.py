"""How long a token is used, and when another is fetched."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from triage.forge.asking import Answer, Asker, Question
from triage.forge.identity import PERMISSIONS, GivenToken, InstallationToken
from triage.forge.port import Unavailable


def _issuer(life: float, *, skew: float = 0.0, bodies: list[object] | None = None) -> tuple[Asker, list[Question]]:
    """Answer as GitHub does, with a clock that is ``skew`` seconds ahead of ours."""
    asked: list[Question] = []

    def send(question: Question, _authorization: str) -> Answer:
        asked.append(question)
        now = datetime.now(UTC) + timedelta(seconds=skew)
        body = {"token": f"ghs_{len(asked)}", "expires_at": (now + timedelta(seconds=life)).isoformat()}
        text = json.dumps(bodies.pop(0) if bodies else body)
        return Answer(201, {"date": format_datetime(now, usegmt=True)}, text)

    return Asker("http://127.0.0.1:1", "http://127.0.0.1:1/graphql", send, lambda _: None), asked


@pytest.mark.parametrize("skew", [-7200.0, 0.0, 7200.0])
def test_a_token_is_kept_whatever_our_clock_says(skew: float) -> None:
    asker, asked = _issuer(3600, skew=skew)
    token = InstallationToken(asker, GivenToken("app"), 7)
    assert [token.authorization() for _ in range(3)] == ["Bearer ghs_1"] * 3
    assert asked == [Question("POST", "/app/installations/7/access_tokens", body={"permissions": PERMISSIONS})]


def test_a_token_near_its_end_is_not_used() -> None:
    asker, asked = _issuer(3600)
    token = InstallationToken(asker, GivenToken("app"), 7)
    token.authorization()
    token._until -= 3290  # as if so many seconds went by: the margin is 300
    assert token.authorization() == "Bearer ghs_1"
    token._until -= 15
    assert token.authorization() == "Bearer ghs_2"
    assert len(asked) == 2


def test_a_dropped_token_is_fetched_again() -> None:
    asker, _ = _issuer(3600)
    token = InstallationToken(asker, GivenToken("app"), 7)
    assert token.authorization() == "Bearer ghs_1"
    assert token.renew() is True
    assert token.authorization() == "Bearer ghs_2"


@pytest.mark.parametrize("body", [[], {}, {"token": None}, {"token": ""}, {"token": 5}])
def test_an_answer_without_a_token_makes_the_work_wait(body: object) -> None:
    asker, _ = _issuer(3600, bodies=[body])
    with pytest.raises(Unavailable, match="no installation token"):
        InstallationToken(asker, GivenToken("app"), 7).authorization()
