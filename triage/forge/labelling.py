"""Put a label on in the repository's own spelling, and make it when the repository has none."""

from typing import Final

from triage.forge import translate
from triage.forge.asking import Question, Reach, items, segment
from triage.forge.port import Gone, Refused, Unavailable

MOST_KNOWN: Final = 10_000
# The colour of a label that GitHub makes by itself when a missing one is put on.
GREY: Final = "ededed"


class Labels:
    """The labels of repositories, as far as they were seen: a label is looked up once, then put on in one request."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], tuple[str, str]] = {}

    def put_on(self, reach: Reach, repository: int, number: int, wanted: dict[str, str]) -> str:
        """Put a label on and return its true name; ``wanted`` holds its name, color (six hex digits) and description.

        A label that somebody deleted meanwhile comes back in GitHub's grey: it is given its colour again.
        """
        key = (repository, wanted["name"].casefold())
        true, known_colour = self._known.get(key) or _found_or_made(reach, wanted)
        question = Question("POST", f"/issues/{number}/labels", body={"labels": [true]})
        put = [one for one in items(reach.send("label", question, again=True)) if _named(one, true)]
        if not put:
            raise Unavailable("the label was put on, but GitHub does not show it")
        true, colour = str(put[0]["name"]), str(put[0].get("color", "")).lower()
        if colour == GREY != known_colour and not put[0].get("description"):
            look = {"color": wanted["color"], "description": wanted["description"]}
            reach.send("label", Question("PATCH", f"/labels/{segment(true)}", body=look))
            colour = wanted["color"]
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known[key] = (true, colour)
        return true


def _found_or_made(reach: Reach, wanted: dict[str, str]) -> tuple[str, str]:
    """Find a label in any spelling, or make it; returns its name and colour."""
    question = Question("GET", f"/labels/{segment(wanted['name'])}")
    try:
        found = reach.send("label", question).body
    except Gone:
        try:
            found = reach.send("label", Question("POST", "/labels", body=wanted), again=True).body
        except Refused as error:
            if "already_exists" not in str(error):
                raise
            found = reach.send("label", question).body  # somebody was faster, perhaps in another spelling
    label = translate.part(found)
    return str(label.get("name") or wanted["name"]), str(label.get("color") or "").lower()


def _named(label: object, name: str) -> bool:
    return str(translate.part(label).get("name")).casefold() == name.casefold()
