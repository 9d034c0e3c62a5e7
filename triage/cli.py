"""What can be asked for on the command line? One function a command; the work is done elsewhere.

Results go to stdout and everything else to stderr. Exit codes: 0 done, 1 a failed job, 2 wrong use. Imports of the
server, the database and the settings stand inside what needs them, so that ``--help`` and ``judge`` stay quick.
"""

import contextlib
import json
import os
import secrets
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn

import typer

if TYPE_CHECKING:
    from triage.settings import Settings
    from triage.wiring import House

app: Final = typer.Typer(
    name="triage",
    help="Livefirst: live people first in the review queue.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

TABLE_ROWS: Final = 200
EVERY: Final = 2**31 - 1

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, one object a line.")]


def run() -> None:
    """Run a command; a pipe that closes early is no error."""
    try:
        app()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def fail(message: str) -> NoReturn:
    """Say on stderr what went wrong and end with 1."""
    typer.echo(f"triage: {message}", err=True)
    raise typer.Exit(1)


def settings() -> "Settings":
    """Read the settings, or end with what is wrong with them."""
    from triage.settings import SettingsError, load

    try:
        return load()
    except SettingsError as error:
        fail(str(error))


@contextlib.contextmanager
def house() -> Iterator["House"]:
    """Open the database that the settings name, migrated, with nothing running."""
    from models.recorded.database import DatabaseError
    from triage.settings import SettingsError
    from triage.wiring import build

    try:
        built = build(settings())
        try:
            built.database.migrate()
            yield built
        finally:
            built.stop()
    except (DatabaseError, SettingsError) as error:
        fail(str(error))


@app.command(epilog="Example: LIVEFIRST_WEBHOOK_SECRET=... triage serve")
def serve() -> None:
    """Run server, worker and clock in one process."""
    from triage import logs, server
    from triage.settings import PREFIX

    given = settings()
    if not given.webhook_secrets:
        fail(f"{PREFIX}WEBHOOK_SECRET is not set: without it no delivery can be told from a forged one.")
    logs.configure(given)
    with house() as built:  # what cannot work is said here, in one line, before anybody is let in
        built.prove()
    if given.sign_in_token is None and given.client_id is None:
        token = secrets.token_urlsafe(32)
        os.environ[f"{PREFIX}SIGN_IN_TOKEN"] = token
        typer.echo(f"Sign in once, on this machine: http://{given.host}:{given.port}/login?token={token}", err=True)
    try:
        server.serve(given)
    except server.ServerError as error:
        fail(str(error))


@app.command(epilog="Example: LIVEFIRST_DATABASE_URL=postgresql+psycopg://db/livefirst triage work")
def work() -> None:
    """Run one more worker on a shared PostgreSQL."""
    from triage import logs
    from triage.settings import PREFIX

    given = settings()
    if given.database_url.startswith("sqlite"):
        fail(f"{PREFIX}DATABASE_URL names SQLite, which one process holds: set it to PostgreSQL for more workers.")
    logs.configure(given)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with house() as built:
        built.prove()
        built.start(door=False)
        typer.echo("Working. Stop with Ctrl-C.", err=True)
        stop.wait()


@app.command(epilog="Example: triage demo --once")
def demo(
    once: Annotated[bool, typer.Option("--once", help="Exit after printing the queue.")] = False,
) -> None:
    """Run the main job without any account.

    Posts the bundled deliveries to a real server, with a stand-in as its GitHub, and prints the queue.
    """
    from triage import demo as story
    from triage import terminal
    from triage.replay import ReplayError
    from triage.server import ServerError

    terminal.err.print("Starting a server and a stand-in for GitHub on this machine ...")
    try:
        with story.running() as told:
            accepted = sum(answer.word == "accepted" for answer in told.answers)
            terminal.err.print(f"{len(told.answers)} signed deliveries posted, {accepted} accepted, all judged.")
            _show_queue_of(told.database_url)
            terminal.out.print(f"The page: {told.sign_in}", soft_wrap=True)
            if not once:
                terminal.out.print(f"GitHub's stand-in: {told.github}  Stop with Ctrl-C.", soft_wrap=True)
                with contextlib.suppress(KeyboardInterrupt):
                    threading.Event().wait()
    except (story.DemoError, ServerError, ReplayError) as error:
        fail(str(error))


def _show_queue_of(database_url: str) -> None:
    from models.recorded.database import Database
    from models.recorded.deliveries import Deliveries
    from models.recorded.store import Store
    from triage import terminal, views

    database = Database.open(database_url)
    try:
        queue = views.queue(Store(database), Deliveries(database), web_url="https://github.com", now=time.time())
        terminal.show_queue(queue)
    finally:
        database.close()


@app.command(epilog="Example: triage judge facts.jsonl | jq .lane")
def judge(
    file: Annotated[Path | None, typer.Argument(help="Facts, one JSON object a line; stdin when left out.")] = None,
    policy: Annotated[Path | None, typer.Option(help="A policy file; the defaults when left out.")] = None,
) -> None:
    """Judge facts offline, JSON lines in and out."""
    from models.learned.classifier import load as load_classifier
    from triage.evaluate import evaluate, verdict
    from triage.facts import FactsError, parse
    from triage.policy import DEFAULT

    rules = DEFAULT if policy is None else _read_policy(policy)
    classifier = load_classifier()
    bad = 0
    for number, line in enumerate(_lines(file), 1):
        if not line.strip():
            continue
        try:
            facts = parse(line)
        except FactsError as error:
            bad += 1
            typer.echo(f"triage: {file or 'stdin'}:{number}: {error}", err=True)
            continue
        typer.echo(json.dumps(verdict(evaluate(facts, rules, classifier)), ensure_ascii=False))
    if bad:
        fail(f"{bad} {'line' if bad == 1 else 'lines'} could not be read as facts.")


def _lines(file: Path | None) -> Iterable[bytes]:
    if file is None:
        yield from sys.stdin.buffer
        return
    try:
        with file.open("rb") as lines:
            yield from lines
    except OSError as error:
        fail(f"{file}: {error.strerror}")


def _read_policy(file: Path) -> Any:
    from triage.policy import PolicyError, parse

    try:
        return parse(file.read_bytes(), source=str(file))
    except OSError as error:
        fail(f"{file}: {error.strerror}")
    except PolicyError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None


@app.command(epilog="Example: triage explain acme/widgets#7")
def explain(
    pull_request: Annotated[str, typer.Argument(metavar="OWNER/REPO#N")],
    as_json: AsJson = False,
) -> None:
    """Explain a verdict: every signal's sentence and weight."""
    from triage import terminal, views

    full_name, _, number = pull_request.partition("#")
    if full_name.count("/") != 1 or not number.isdecimal():
        raise typer.BadParameter("write it as OWNER/REPO#N, such as acme/widgets#7")
    with house() as built:
        page = views.pull(built.store, full_name, int(number), web_url=built.settings.github_web_url)
        if page is None or page.verdict is None:
            fail(f"{pull_request} has no verdict yet: no delivery about it has been judged in this database.")
        if as_json:
            typer.echo(json.dumps(page.verdict, ensure_ascii=False))
        else:
            terminal.show_verdict(page.verdict)


@app.command(epilog="Example: triage replay saved/*.jsonl")
def replay(
    paths: Annotated[list[Path], typer.Argument(help='Files of {"event","delivery","body"} JSON lines.')],
    to: Annotated[str | None, typer.Option("--to", help="A running server; else one is started for this.")] = None,
    as_json: AsJson = False,
) -> None:
    """Feed saved deliveries through the same way in.

    They are signed, posted over HTTP, and judged.
    """
    from triage import terminal
    from triage.replay import ReplayError, read, send
    from triage.settings import PREFIX

    given = settings()
    try:
        saved = [one for path in paths for one in read(path)]
        with contextlib.ExitStack() as stack:
            url, secret = to, next(iter(given.webhook_secrets), None)
            if url is None:
                url, secret = stack.enter_context(_own_server(secret))
            if secret is None:
                fail(f"{PREFIX}WEBHOOK_SECRET is not set: the server at {url} takes only what is signed with its own.")
            progress = stack.enter_context(terminal.bar("Posting", len(saved)))
            answers = []
            for answer in send(saved, url=url, secret=secret):
                answers.append(answer)
                progress.advance(progress.task_ids[0])
            if to is None:
                _wait_until_done({answer.guid for answer in answers if answer.word == "accepted"})
    except ReplayError as error:
        fail(str(error))
    if as_json:
        for answer in answers:
            typer.echo(json.dumps({"guid": answer.guid, "status": answer.status, "answer": answer.word}))
    else:
        counts = {word: sum(one.word == word for one in answers) for word in sorted({one.word for one in answers})}
        terminal.lines([f"{count} {word}" for word, count in counts.items()])
    if any(answer.status >= 400 for answer in answers):  # noqa: PLR2004 - HTTP's own border of refusal
        fail("some deliveries were refused.")


@contextlib.contextmanager
def _own_server(secret: bytes | None) -> Iterator[tuple[str, bytes]]:
    """Run a server on the configured database while the context lasts."""
    import tempfile

    from triage import server
    from triage.settings import PREFIX

    signed_with = secret or secrets.token_hex(32).encode()
    port = server.free_port()
    env = {
        f"{PREFIX}HOST": server.LOOPBACK,
        f"{PREFIX}PORT": str(port),
        f"{PREFIX}WEBHOOK_SECRET": signed_with.decode(),
    }
    with tempfile.TemporaryDirectory(prefix="livefirst-replay-") as folder:
        log = Path(folder) / "serve.log"
        try:
            with server.child(["-m", "triage", "serve"], port=port, log=log, env=env):
                yield f"http://{server.LOOPBACK}:{port}", signed_with
        except server.ServerError as error:
            fail(str(error))


def _wait_until_done(guids: set[str]) -> None:
    """Wait until none of the deliveries waits any more; what waits for GitHub is left waiting after a while."""
    from models.recorded.database import Database
    from models.recorded.deliveries import Deliveries

    database = Database.open(settings().database_url)
    until = time.monotonic() + 60.0
    try:
        while time.monotonic() < until:
            waiting = {row.guid for row in Deliveries(database).listed(state="waiting")}
            if not waiting & guids:
                return
            time.sleep(0.1)
        typer.echo("triage: some deliveries still wait; see triage deliveries --state waiting", err=True)
    finally:
        database.close()


@app.command(epilog="Example: triage check .github/triage.yml")
def check(
    file: Annotated[Path, typer.Argument(help="The policy file.")] = Path(".github/triage.yml"),
    as_json: AsJson = False,
) -> None:
    """Check a policy file."""
    from triage.policy import PolicyError, parse

    try:
        text = file.read_bytes()
    except OSError as error:
        fail(f"{file}: {error.strerror}")
    try:
        policy = parse(text, source=str(file))
    except PolicyError as error:
        for problem in error.problems if as_json else ():
            told = {"file": str(file), "line": problem.line, "column": problem.column, "message": problem.message}
            typer.echo(json.dumps(told, ensure_ascii=False))
        if not as_json:
            typer.echo(str(error))
        raise typer.Exit(1) from None
    if not as_json:
        typer.echo(f"{file}: valid; mode {policy.mode}, sensitivity {policy.sensitivity}, {policy.fingerprint[:19]}")


@app.command(epilog="Example: triage deliveries --state failed --retry")
def deliveries(
    guid: Annotated[str | None, typer.Argument(help="One delivery; all when left out.")] = None,
    state: Annotated[str | None, typer.Option(help="waiting, done or failed.")] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Judge failed ones again.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="How many at most, newest first; a table has 200.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what became of each delivery that was answered 202."""
    from triage import terminal

    if state not in {None, "waiting", "done", "failed"}:
        raise typer.BadParameter("waiting, done or failed", param_hint="--state")
    with house() as built:
        if retry:
            woken = built.deliveries.retry(guid)
            typer.echo(f"triage: {len(woken)} to be judged again; a running server takes them up.", err=True)
        rows = built.deliveries.listed(guid, state, limit or (EVERY if as_json else TABLE_ROWS))
        if guid is not None and not rows:
            fail(f"{guid}: no such delivery was stored here.")
        if as_json:
            for row in rows:
                typer.echo(json.dumps(_delivery(row), ensure_ascii=False))
        else:
            terminal.show_deliveries(rows)


def _delivery(row: Any) -> dict[str, Any]:
    return {
        "guid": row.guid,
        "event": row.event,
        "action": row.action,
        "state": row.state,
        "attempts": row.attempts,
        "outcome": row.outcome,
        "received_at": row.received_at,
        "finished_at": row.finished_at,
        "subject": row.subject,
    }
