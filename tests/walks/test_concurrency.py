"""One sender or sixty-four at once: everything is taken, nothing is lost, and memory does not grow."""

import uuid
from pathlib import Path
from typing import Any, Final

import pytest
from plugins_github import AppKey, Listener, StandIn
from walk_load import Courier, Post, labelling, until

SENDERS: Final = (1, 2, 4, 8, 16, 32, 64)
REQUESTS: Final = 192  # for each number of senders
THREADS: Final = 24
SECRET: Final = "walks-secret"
MOST_GROWTH: Final = 16 * 1024 * 1024  # bytes of resident memory from the end of the first sweep to that of the second

pytestmark = pytest.mark.timeout(280)


def resident(pid: int) -> int:
    """Return the resident memory of a process in bytes."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("the process has no memory")


def test_a_sweep_of_senders(
    livefirst: Any, standin: StandIn, listener: Listener, app_key: AppKey, capsys: pytest.CaptureFixture[str]
) -> None:
    standin.seed(labelling(app_key, listener))
    post = Post(standin, listener)
    numbers = [standin.act("open_issue", "max", title=f"It breaks {one}")["number"] for one in range(THREADS)]
    said = [post.act("comment", f"eve{number}", number=number, body="This also happens to me.") for number in numbers]
    livefirst.start()
    sizes, sent = [], set()
    for _ in range(2):
        for senders in SENDERS:
            parcels = [said[one % THREADS]._replace(guid=str(uuid.uuid4())) for one in range(REQUESTS)]
            sent |= {parcel.guid for parcel in parcels}
            courier = Courier(livefirst.url, SECRET, senders=senders)
            courier.hand(parcels)
            courier.finish()
            assert courier.answers == {202: REQUESTS}, senders
            assert courier.cut == 0, senders
            assert set(courier.taken) == {parcel.guid for parcel in parcels}
        livefirst.quiet()
        sizes.append(resident(livefirst.process.pid))
    until(lambda: livefirst.metric("livefirst_waiting_subjects") == 0, "everything to be judged", lambda: livefirst.log)
    listed = livefirst.deliveries()
    assert len(listed) == len(sent) == 2 * REQUESTS * len(SENDERS)
    assert {one["guid"] for one in listed} == sent
    assert {one["state"] for one in listed} == {"done"}
    with capsys.disabled():
        megabytes = " and ".join(f"{size / 2**20:.0f} MB" for size in sizes)
        print(f"\n{len(sent)} deliveries from 1 to 64 senders, twice: {megabytes} resident")
    assert sizes[1] - sizes[0] <= MOST_GROWTH
