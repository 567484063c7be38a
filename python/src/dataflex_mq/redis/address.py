"""Addresses of Redis: `redis://[user:password@]host:port[/db]`, `rediss://…`, `unix:///path[?db=n]`."""

from __future__ import annotations

import os
import re
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from ..errors import error


def address_of(given: str | None) -> str:
    """The address, or that of the environment's DFX_REDIS_URL, then REDIS_URL. Raises USAGE where there is none, or it is malformed."""
    if given is not None and not isinstance(given, str):
        raise error("USAGE", f'a Redis address is a string such as "redis://HOST:PORT", not a {type(given).__name__}')
    url = given or os.environ.get("DFX_REDIS_URL") or os.environ.get("REDIS_URL")
    if not url:
        raise error("USAGE", 'no Redis address: pass Client("redis://HOST:PORT"), or set DFX_REDIS_URL')
    parse_address(url)
    return url


def parse_address(url: str) -> dict[str, Any]:
    """What redis-py's connections take. Raises USAGE naming what is wrong."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        # The offending text may be a part of the password, so the cause is not shown.
        message = f'not a Redis address: "{redact(url)}". Write redis://HOST:PORT or unix:///PATH/redis.sock'
        raise error("USAGE", message) from None
    query = parse_qs(parts.query)
    if "keyPrefix" in query:
        raise error(
            "USAGE", "keyPrefix is refused: scripts would see other names than the client. Use another database number"
        )
    options: dict[str, Any] = {"username": _text(parts.username), "password": _text(parts.password)}
    if parts.scheme == "unix":
        if not parts.path:
            raise error("USAGE", f'no socket path in "{redact(url)}". Write unix:///PATH/redis.sock')
        options |= {"path": unquote(parts.path)}
    elif parts.scheme in ("redis", "rediss"):
        options |= {"host": parts.hostname or "127.0.0.1", "port": port or 6379}
    else:
        raise error("USAGE", f'"{redact(url)}" is no Redis address: the scheme must be redis, rediss or unix')
    database = query.get("db", ["" if parts.scheme == "unix" else parts.path.strip("/")])[0]
    if not re.fullmatch(r"\d*", database):
        raise error("USAGE", f'"{redact(url)}" names the database "{database}"; it is a number')
    return {**options, "db": int(database or 0), "tls": parts.scheme == "rediss"}


def redact(url: str) -> str:
    """An address as it may be shown: without passwords and tokens, wherever they stand in it, and also when it is malformed."""
    scheme = re.match(r"[a-z][a-z0-9+.-]*://", url, re.IGNORECASE)
    start = scheme.end() if scheme else 0
    at = max(url.rfind("@"), start)
    return url[:start] + _hide_login(url[start:at]) + _hide_options(url[at:])


def _hide_login(login: str) -> str:
    """`user:***`; without a colon it may be a token as well as a name. A socket's path is neither."""
    if (
        login == ""
        or re.fullmatch("(USER)?:PASSWORD", login)
        or (login.startswith("/") and not re.search("[?:]", login))
    ):
        return login
    user, colon, _ = login.partition(":")
    return f"{user}:***" if colon else "***"


def _hide_options(rest: str) -> str:
    # The database is the only option that is not a secret.
    return re.sub(r"([?&#])(?!db=)([^=&#]*)=[^&#]*", r"\1\2=***", rest)


def _text(part: str | None) -> str | None:
    return None if part is None else unquote(part)
