"""Pull requests: themselves, their files, commits, reviews and comments on lines."""

from typing import Final

from fastapi import APIRouter

from standin.call import Answer, Called, Refused
from standin.thread_shapes import changed_file, pull_in_list, pull_request
from standin.threads import Pull
from standin.timeline_shapes import commit, review, review_comment

router: Final = APIRouter(prefix="/repos/{owner}/{repo}/pulls")
FILES_MOST: Final = 3000
COMMITS_MOST: Final = 250
READ: Final = "pull_requests=read"


@router.get("")
async def pulls(call: Called, owner: str, repo: str) -> Answer:
    """List pull requests, the newest first."""
    found = call.repository(owner, repo, READ)
    asked = call.request.query_params
    state = asked.get("state", "open")
    some = [one for one in found.threads if one.pull and state in {one.state, "all"}]
    if asked.get("head"):
        some = [one for one in some if f"{one.author}:{(one.pull or Pull()).head_ref}" == asked["head"]]
    some.sort(key=lambda one: one.created_at, reverse=asked.get("direction", "desc") == "desc")
    page, headers = call.paged(some)
    return Answer([pull_in_list(call.url, call.world, found, one) for one in page], headers=headers)


@router.get("/{number:int}")
async def one_pull(call: Called, owner: str, repo: str, number: int) -> Answer:
    """Tell a pull request."""
    found = call.repository(owner, repo, READ)
    return Answer(pull_request(call.url, call.world, found, call.thread(found, number, pull=True)))


@router.get("/{number:int}/files")
async def files(call: Called, owner: str, repo: str, number: int) -> Answer:
    """List the changed files, at most three thousand."""
    found = call.repository(owner, repo, READ)
    pull = call.thread(found, number, pull=True).pull or Pull()
    page, headers = call.paged(pull.files[:FILES_MOST])
    return Answer([changed_file(call.url, found, pull, one) for one in page], headers=headers)


@router.get("/{number:int}/commits")
async def commits(call: Called, owner: str, repo: str, number: int) -> Answer:
    """List the commits, at most two hundred and fifty."""
    found = call.repository(owner, repo, READ)
    pull = call.thread(found, number, pull=True).pull or Pull()
    page, headers = call.paged(pull.commits[:COMMITS_MOST])
    return Answer([commit(call.url, call.world, found, one) for one in page], headers=headers)


@router.get("/{number:int}/reviews")
async def reviews(call: Called, owner: str, repo: str, number: int) -> Answer:
    """List the reviews, oldest first."""
    found = call.repository(owner, repo, READ)
    thread = call.thread(found, number, pull=True)
    page, headers = call.paged((thread.pull or Pull()).reviews)
    return Answer([review(call.url, call.world, found, thread, one) for one in page], headers=headers)


@router.get("/{number:int}/comments")
async def remarks(call: Called, owner: str, repo: str, number: int) -> Answer:
    """List the comments on lines of the diff, oldest first."""
    found = call.repository(owner, repo, READ)
    thread = call.thread(found, number, pull=True)
    page, headers = call.paged((thread.pull or Pull()).review_comments)
    return Answer([review_comment(call.url, call.world, found, thread, one) for one in page], headers=headers)


@router.get("/comments/{comment:int}")
async def remark(call: Called, owner: str, repo: str, comment: int) -> Answer:
    """Tell a comment on a line of the diff."""
    found = call.repository(owner, repo, READ)
    for thread in found.threads:
        for one in (thread.pull or Pull()).review_comments:
            if one.id == comment:
                return Answer(review_comment(call.url, call.world, found, thread, one))
    raise Refused(404, "Not Found")
