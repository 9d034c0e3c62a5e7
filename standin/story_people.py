"""The people of the story: a first pull request, a translation, a pair at one desk, and those who say what they used."""

from datetime import timedelta

from standin.story_props import LIVE, MARIA, TOMASZ, UNSURE, added, answered, changed, hours, seconds
from standin.teller import Teller
from standin.threads import Commit


def tell(told: Teller) -> None:
    """Tell of the people."""
    student(told)
    translator(told)
    pair(told)
    quick_win(told)
    terse(told)
    design_note(told)
    regular(told)
    disclosed(told)
    trailer(told)


def student(told: Teller) -> None:
    """A student's first pull request, who answers the next morning."""
    fix = changed(
        "engine/tokenizer.py",
        """\
@@ 40 def encode(self, text):
     def encode(self, text):
         ids = []
+        if not text:
+            return []
         first = text[0]
         if first.isspace():
             ids.append(self.space)""",
    )
    pull = told.pull(
        "engine",
        "yusuf-on-a-train",
        hours(26),
        "Handle empty text in tokenizer",
        'hi, first time I contribute anywhere so sorry if I do it wrong. When the text is "" the tokenizer crashes '
        "with IndexError (I hit it in my course project). I return an empty list now. Is that what you want or should "
        "it raise?\n\n## How did you check it?\n\nran my project again, it works now\n\n"
        "## Did you use an AI tool, and for what?\n\nno\n",
        lanes=LIVE,
        association="FIRST_TIME_CONTRIBUTOR",
        branch="empty-text",
        files=[fix],
    )
    told.review(
        pull,
        MARIA,
        hours(22),
        "Thanks, and welcome! An empty list is right. What happens in `decode` when it gets the empty list back? And could "
        "you add a test?",
    )
    told.comment(
        pull,
        "yusuf-on-a-train",
        hours(9.3),
        'good question. I tried decode([]) this morning, it gives "" so that is fine. I add a test for both ways, did '
        "not know how you write them before but it is nice",
    )
    test = added(
        "tests/test_tokenizer_empty.py",
        """\
def test_empty_text_and_back(tokenizer):
    assert tokenizer.encode("") == []
    assert tokenizer.decode([]) == \"\"""",
    )
    told.push(pull, "yusuf-on-a-train", hours(8.9), "test for empty text", [fix, test])


def translator(told: Teller) -> None:
    """A translation with five words of description."""
    told.pull(
        "docs",
        "montse-ferrer",
        hours(50),
        "Traducció al català",
        "Primera part de la guia.",
        lanes=UNSURE,
        branch="catala",
        files=[
            added(
                "ca/guia.md",
                """\
# Guia

Aquesta guia explica com carregar un model.

Primer cal instal·lar el motor. Després n'hi ha prou amb una ordre.""",
            )
        ],
    )


def pair(told: Teller) -> None:
    """Two who sit at one desk: answers of a few words within the minute, as people give them."""
    leak = """\
@@ 131 def abort(self, request):
     def abort(self, request):
         self.waiting.discard(request)
+        self.cache.free(request)
         self.done(request)"""
    pull = told.pull(
        "engine",
        "peter-okafor",
        hours(5),
        "Free the cache on abort",
        "We leak a slot when a request is aborted between prefill and decode. Found it with Tomasz at his desk, the "
        "scheduler never hears of the abort.",
        lanes=("unsure", "live_person"),
        branch="abort-leak",
        files=[changed("engine/scheduler.py", leak)],
    )
    path, at = "engine/scheduler.py", timedelta(minutes=250)
    said = (
        ("order", "free it before done, `done` recycles the id", 40, "right, it is before. read it again :)"),
        ("timeout", "also on timeout?", 25, "done, thanks"),
        ("log", "and a debug line please", 50, "done"),
        ("name", "s/req/request/", 20, "done, thanks"),
    )
    for step, (name, asked, wait, answer) in enumerate(said):
        begun = at - timedelta(minutes=6 * step)
        told.remark(pull, TOMASZ, begun, asked, path=path, name=name)
        told.remark(pull, "peter-okafor", begun - seconds(wait), answer, path=path, name=name)
    whole = f"""{leak}
@@ 160 def expire(self, request):
     def expire(self, request):
+        self.cache.free(request)
+        log.debug("slot of %s freed", request.id)
         self.done(request)"""
    told.push(pull, "peter-okafor", timedelta(minutes=228), "Free it on timeout too", [changed(path, whole)])
    told.review(pull, TOMASZ, timedelta(minutes=225), "", "APPROVED")


def quick_win(told: Teller) -> None:
    """A small fix with a test; its checks are green since a maintainer let them run."""
    pull = told.pull(
        "engine",
        "hana-novakova",
        hours(30),
        "Fix off-by-one in max_tokens",
        answered(
            "`max_tokens=1` gave two tokens. The loop compared with `<=`.",
            "New test, it fails without the change.",
            "No.",
        ),
        lanes=UNSURE,
        branch="max-tokens",
        files=[
            changed(
                "engine/sampler.py",
                """\
@@ 77 def draw(self, limit):
         count = 0
-        while count <= limit:
+        while count < limit:
             yield self.next()""",
            ),
            added(
                "tests/test_max_tokens.py",
                """\
def test_one_token_is_one(engine):
    assert len(engine.generate("a", max_tokens=1)) == 1""",
            ),
        ],
    )
    pull.quick_win = True
    told.checks(pull, timedelta(minutes=14))


def terse(told: Teller) -> None:
    """A targeted fix without a word of description, as people who know the code send them."""
    told.pull(
        "engine",
        "kwame-asante",
        hours(70),
        "ci: pin runner image",
        None,
        lanes=UNSURE,
        branch="pin",
        files=[
            changed(
                ".github/workflows/ci.yml",
                """\
@@ 9 jobs:
   test:
-    runs-on: ubuntu-latest
+    runs-on: ubuntu-24.04
     steps:""",
            )
        ],
    )


def design_note(told: Teller) -> None:
    """A long design note that somebody thought about for weeks."""
    why = (
        "I would like to move sampling out of the scheduler, and this is the first step. Before you read the diff, here is how I came to it.",
        "Last month we lost two days to a bug where a request that was preempted between two sampling steps came back with the temperature of its neighbour. The reason is that the scheduler owns the sampler's state and reorders its rows when it compacts the batch. Nothing tells the sampler.",
        "I tried three ways. Copying the state with the rows works but costs 4 % on the small model (I measured on my own card, one run of ten minutes each, so take it with salt). Telling the sampler of each move is what we did two years ago, and we left it again for good reasons. What is left is to let each request own its state, and to gather it when the batch is built.",
    )
    question = (
        "What I am not sure about is beam search. It forks requests, and I do not understand yet who should own the fork. I left it as it is. If you think that this must be solved first, I would rather hear it now.",
        "The second commit only moves code. It is easier to read with whitespace hidden.",
    )
    pull = told.pull(
        "engine",
        "anneliese-vogt",
        hours(120),
        "Let a request own its sampling state",
        "## Why\n\n" + "\n\n".join(why) + "\n\n## Open question\n\n" + "\n\n".join(question),
        lanes=LIVE,
        branch="sampling-state",
        files=[
            changed(
                "engine/sampler.py",
                """\
@@ 12 class Sampler:
     def __init__(self, rows):
-        self.rows = rows
+        self.requests = [row.request for row in rows]""",
            ),
            changed(
                "engine/scheduler.py",
                """\
@@ 88 def compact(self, keep):
-        self.sampler.compact(keep)
+        self.batch.compact(keep)
         self.size = len(keep)""",
            ),
            added(
                "engine/sampling_state.py",
                '''\
class SamplingState:
    """What one request needs to draw its next token."""

    def __init__(self, seed, temperature):
        self.seed = seed
        self.temperature = temperature''',
            ),
        ],
        commits=[
            Commit(
                "Let a request own its sampling state", told.now - hours(140), author="anneliese-vogt", name="Anneliese"
            ),
            Commit("Move the draw into the sampler", told.now - hours(121), author="anneliese-vogt", name="Anneliese"),
        ],
    )
    told.review(
        pull,
        MARIA,
        hours(100),
        "I like where this goes. For beam search: could the fork copy the state and draw a new seed from it? That is what "
        "the old code does by accident.",
    )
    told.comment(
        pull,
        "anneliese-vogt",
        hours(77),
        "Slept over it. Copying works for the seed but not for the penalties: they look back at tokens that the fork shares "
        "with its parent, so a copied count would be right only at first. I would keep beam search out of this one and open "
        "an issue. Would that be all right for you?",
    )


def regular(told: Teller) -> None:
    """Somebody of whom four changes are merged here."""
    told.pull(
        "engine",
        "henrik-dale",
        hours(11),
        "Close the model file when loading fails",
        "Seen on a full disk: we kept the handle and the retry could not map it.",
        lanes=("exempt",),
        branch="close-on-error",
        files=[
            changed(
                "engine/loader.py",
                """\
@@ 51 def load(path):
-    file = open(path, "rb")
-    return parse(file)
+    with open(path, "rb") as file:
+        return parse(file)""",
            )
        ],
    )


def disclosed(told: Teller) -> None:
    """An agent wrote the first draft, and the author says so and what came after."""
    pull = told.pull(
        "engine",
        "sofia-marchetti",
        hours(44),
        "Add top-k to the HTTP API",
        answered(
            "Adds `top_k` to the completion endpoint. 0 switches it off, as everywhere.",
            "Ran the server with top_k 1, 5 and 0 by hand and compared with the command line. There is a test for 0.",
            "I used a coding agent for the first draft. I reviewed each line, threw away the retry logic it had added, and "
            "wrote the validation myself.",
        ),
        lanes=("disclosed",),
        branch="top-k",
        files=[
            changed(
                "engine/http.py",
                """\
@@ 20 class Completion:
     top_p: float = 1.0
+    top_k: int = 0

     def check(self):
+        if self.top_k < 0:
+            raise BadRequest("top_k is 0 or more")""",
            ),
            added(
                "tests/test_top_k.py",
                """\
def test_zero_is_off(client):
    assert client.complete("a", top_k=0) == client.complete("a")""",
            ),
        ],
    )
    told.review(pull, TOMASZ, hours(41), "What does a top_k above the vocabulary do?")
    told.comment(
        pull,
        "sofia-marchetti",
        hours(38.5),
        "It is clamped in `Sampler.draw`, I looked: line 92. So it is the same as 0, only slower. Should I say that in the docs?",
    )


def trailer(told: Teller) -> None:
    """The agent signed the commit with the author."""
    told.pull(
        "engine",
        "ravi-menon",
        hours(33),
        "Retry the download when the hash differs",
        "The mirror sometimes serves half a file. One retry, then the error as before.",
        lanes=("disclosed",),
        branch="hash-retry",
        files=[
            changed(
                "engine/download.py",
                """\
@@ 64 def fetch(self, path, attempt=0):
         if digest != wanted:
-            raise HashMismatch(path)
+            if attempt:
+                raise HashMismatch(path)
+            return self.fetch(path, attempt=1)""",
            )
        ],
        commits=[
            Commit(
                "Retry the download once\n\nCo-authored-by: Copilot <copilot@users.noreply.github.com>",
                told.now - hours(33.2),
                author="ravi-menon",
                name="Ravi",
            )
        ],
    )
