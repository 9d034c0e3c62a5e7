"""The App's own endpoints: itself, its installations and tokens, its deliveries, and how it is first made."""

import json
import secrets
from typing import Any, Final

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from fastapi import APIRouter

from standin.call import LEVELS, Answer, Call, Called, Refused
from standin.hooks import Sent, headers_of
from standin.shapes import Shape, app, full_repository, installation, time
from standin.tokens import issue

router: Final = APIRouter()


@router.get("/app")
async def the_app(call: Called) -> Answer:
    """Tell who the App is."""
    call.as_app()
    return Answer({**app(call.url, call.world), "installations_count": len(call.world.installations)})


@router.get("/app/installations")
async def installations(call: Called) -> Answer:
    """List where the App is installed."""
    call.as_app()
    found, headers = call.paged(call.world.installations)
    return Answer([installation(call.url, call.world, one) for one in found], headers=headers)


@router.get("/app/installations/{number:int}")
async def one_installation(call: Called, number: int) -> Answer:
    """Tell one installation."""
    call.as_app()
    found = call.world.installation(number)
    if found is None:
        raise Refused(404, "Not Found")
    return Answer(installation(call.url, call.world, found))


@router.get("/repos/{owner}/{repo}/installation")
async def installation_of(call: Called, owner: str, repo: str) -> Answer:
    """Tell which installation reaches a repository."""
    call.as_app()
    found = call.world.repository(f"{owner}/{repo}")
    where = call.world.installation(found.installation) if found else None
    if where is None:
        raise Refused(404, "Not Found")
    return Answer(installation(call.url, call.world, where))


@router.post("/app/installations/{number:int}/access_tokens")
async def access_token(call: Called, number: int) -> Answer:
    """Give an installation token for an hour, narrowed to what was asked for."""
    call.as_app()
    found = call.world.installation(number)
    if found is None:
        raise Refused(404, "Not Found")
    if found.suspended_at is not None:
        raise Refused(403, "This installation has been suspended")
    asked = await call.body()
    wanted: dict[str, str] = asked.get("permissions") or dict(found.permissions)
    if any(LEVELS.index(level) > LEVELS.index(found.permissions.get(name, "none")) for name, level in wanted.items()):
        raise Refused(422, "The permissions requested are not granted to this installation.")
    chosen = _chosen(call, number, asked)
    token, expires = issue(call.world, number, {"metadata": "read", **wanted}, chosen)
    shape: Shape = {"token": token, "expires_at": time(expires), "permissions": {"metadata": "read", **wanted}}
    shape["repository_selection"] = "selected"
    return Answer(shape, 201)


def _chosen(call: Call, number: int, asked: dict[str, Any]) -> list[int] | None:
    ids, names = asked.get("repository_ids"), asked.get("repositories")
    if ids is None and names is None:
        return None
    mine = [one for one in call.world.repositories if one.installation == number]
    chosen = [one.id for one in mine if one.id in (ids or []) or one.name in (names or [])]
    if len(chosen) < len(ids or []) + len(names or []):
        raise Refused(422, "There is at least one repository that does not exist or is not accessible.")
    return chosen


@router.get("/installation/repositories")
async def reached(call: Called) -> Answer:
    """List the repositories that the calling installation reaches."""
    number = call.own_installation().id
    mine = [one for one in call.world.repositories if one.installation == number]
    found, headers = call.paged(mine)
    shapes = [full_repository(call.url, call.world, one) for one in found]
    return Answer(
        {"total_count": len(mine), "repository_selection": "selected", "repositories": shapes}, headers=headers
    )


def _item(one: Sent) -> Shape:
    return {
        "id": one.id,
        "guid": one.guid,
        "delivered_at": time(one.delivered_at),
        "redelivery": one.redelivery,
        "duration": one.duration,
        "status": one.status,
        "status_code": one.status_code,
        "event": one.event,
        "action": one.action,
        "installation_id": one.payload.get("installation", {}).get("id"),
        "repository_id": one.payload.get("repository", {}).get("id"),
        "throttled_at": None,
    }


@router.get("/app/hook/deliveries")
async def deliveries(call: Called) -> Answer:
    """List the attempts to deliver, newest first; the cursor is the id to go on below."""
    call.as_app()
    asked, size = call.request.query_params, call.page()[1]
    cursor, status = asked.get("cursor", ""), asked.get("status")
    if cursor and not cursor.isdecimal():
        raise Refused(422, "Invalid cursor")
    found = [one for one in reversed(call.hooks.sent) if one.status != "waiting"]
    if status in {"success", "failure"}:
        found = [one for one in found if (one.status == "OK") == (status == "success")]
    if cursor:
        found = [one for one in found if one.id < int(cursor)]
    headers = {}
    if len(found) > size:
        kept = f"&status={status}" if status else ""
        link = f"{call.url}/app/hook/deliveries?per_page={size}&cursor={found[size - 1].id}{kept}"
        headers["link"] = f'<{link}>; rel="next"'
    return Answer([_item(one) for one in found[:size]], headers=headers)


def _sent(call: Call, number: int) -> Sent:
    found = next((one for one in call.hooks.sent if one.id == number), None)
    if found is None:
        raise Refused(404, "Not Found")
    return found


@router.get("/app/hook/deliveries/{number:int}")
async def one_delivery(call: Called, number: int) -> Answer:
    """Tell one attempt with what was sent."""
    call.as_app()
    one = _sent(call, number)
    body = json.dumps(one.payload).encode()
    request = {"headers": headers_of(one, body, b""), "payload": one.payload}
    response: Shape = {"headers": {}, "payload": ""}
    return Answer({**_item(one), "url": call.world.app.webhook_url, "request": request, "response": response})


@router.post("/app/hook/deliveries/{number:int}/attempts")
async def redeliver(call: Called, number: int) -> Answer:
    """Send a delivery again, under the same GUID."""
    call.as_app()
    one = _sent(call, number)
    call.hooks.send(call.world, one.event, one.payload, one.guid)
    return Answer({}, 202)


@router.post("/app-manifests/{code}/conversions")
async def convert(call: Called, code: str) -> Answer:
    """Turn a manifest's code into the App's credentials, once; the world's App takes them on."""
    if code not in call.world.manifest_codes:
        raise Refused(404, "Not Found")
    call.world.manifest_codes.remove(code)
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    call.world.app.public_key = public.decode()
    call.world.app.webhook_secret = secrets.token_hex(20)
    credentials = {
        "client_secret": secrets.token_hex(20),
        "webhook_secret": call.world.app.webhook_secret,
        "pem": pem.decode(),
    }
    return Answer({**app(call.url, call.world), **credentials}, 201)
