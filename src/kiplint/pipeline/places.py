"""URIs as they may be given: no secret in them is ever told, and a place means what it says."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from kiplint.engine.errors import UsageError

MOST: Final = 2048
"""Characters of a URI: the name of an object has 1,024 at most."""

_PARTS: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(/*)(?:([^/?#]*)@)?([^/?#]*)([^?#]*)(.*)", re.DOTALL)
_BUCKET: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}")


def told(place: str) -> str:
    """A place as it may be shown: of a URI without a password, and without what follows `?`."""
    found = _PARTS.fullmatch(place)
    if not found:
        return place
    scheme, slashes, user, host, path, rest = found.groups()
    known = f"{user.partition(':')[0] if scheme.lower().startswith('abfs') else '...'}@" if user else ""
    return f"{scheme}:{slashes}{known}{host}{path}{'?...' if rest.startswith('?') else rest}"


def require_no_secret(place: str) -> None:
    """Raise UsageError for a URI with a name and password before its host, or a signature behind `?`."""
    found = _PARTS.fullmatch(place)
    if not found or not found[2]:
        return
    container = found[1].lower().startswith("abfs")
    if (found[3] and (":" in found[3] or not container)) or found[6].startswith("?"):
        raise UsageError(f"{told(place)} has more in it than a place: credentials are taken from the environment")


def require_place(uri: str) -> None:
    """Raise UsageError for the URI of an object store that is none, or would be taken for another one."""
    require_no_secret(uri)
    _, _, rest = uri.partition("://")
    bucket, *folders = rest.rstrip("/").split("/")
    container, _, host = bucket.rpartition("@")
    if len(uri) > MOST:
        raise UsageError(f"{uri[:40]}... is no place: it has more than {MOST:,} characters")
    if not uri.isprintable():
        raise UsageError(f"{uri} is no URI: it has characters that none has")
    if not all(_BUCKET.fullmatch(part) for part in (container or host, host)):
        raise UsageError(f"{uri} names no bucket")
    if "#" in rest or any(unquote(one) in ("", ".", "..") or "/" in unquote(one) for one in folders):
        raise UsageError(f"{uri} is no place in a bucket: it has a part that leads elsewhere")
