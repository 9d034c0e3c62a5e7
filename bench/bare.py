"""The baseline of the door: a bare Starlette route that reads the body, checks the signature and answers."""

import hashlib
import hmac
import os

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

SECRET = os.environ.get("BENCH_SECRET", "").encode()


async def webhook(request: Request) -> JSONResponse:
    """Answer 202 to what is signed."""
    body = await request.body()
    expected = "sha256=" + hmac.new(SECRET, body, hashlib.sha256).hexdigest()
    good = hmac.compare_digest(expected, request.headers.get("x-hub-signature-256", ""))
    return JSONResponse({"status": "accepted"} if good else {"error": "unsigned"}, 202 if good else 401)


async def healthz(_: Request) -> JSONResponse:
    """Be alive."""
    return JSONResponse({"status": "alive"})


app = Starlette(routes=[Route("/webhooks/github", webhook, methods=["POST"]), Route("/healthz", healthz)])
