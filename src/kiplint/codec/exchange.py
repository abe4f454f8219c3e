"""The JSON of bytes: an object with hexadecimal bytes for one with values, and back."""

from __future__ import annotations

from typing import Any

import msgspec

from kiplint.codec.catalog import Catalog, having
from kiplint.codec.codec import UnusableLayout, filled
from kiplint.codec.frames import API_VERSIONS, UNSUPPORTED_VERSION, Frame, decode_body, decode_request, decode_response
from kiplint.codec.problems import ByteProblem
from kiplint.model.message import Message


class BadInput(Exception):  # noqa: N818
    """The object cannot be understood; the text says why."""


class Additions(msgspec.Struct, frozen=True):
    """What to add to what the bytes have: the defaults of absent tagged fields, the record batches in records."""

    defaults: bool = False
    records: bool = False


def read_object(catalog: Catalog, line: bytes, *, spans: bool) -> tuple[Frame, bytes]:
    """The frame or body of one line of JSON, and its bytes. Raises BadInput."""
    try:
        given = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadInput(f"the line is not JSON: {error}") from None
    return _read(catalog, given, spans=spans)


def finished(catalog: Catalog, frame: Frame, wanted: Additions) -> Frame:
    """The frame with what was asked for in its value; records need a frame with spans."""
    message = having(catalog.named(frame.message), frame.version)
    if frame.value is None or message is None or not (wanted.defaults or wanted.records):
        return frame
    body = catalog.codec(message, frame.version).body
    value, problems = frame.value, frame.problems
    if wanted.records:
        from kiplint.codec.topics import with_records

        value, more = with_records(catalog, body, value, frame.spans)
        problems = (*problems, *more)
    value = filled(body, value) if wanted.defaults else value
    return msgspec.structs.replace(frame, value=value, problems=problems)


def document(frame: Frame) -> dict[str, Any]:
    """A frame as JSON has it."""
    return {
        "message": frame.message or None,
        "version": frame.version if frame.version >= 0 else None,
        "header_version": frame.header_version,
        "header": frame.header,
        "value": frame.value,
        "length": frame.length,
        "problems": problem_rows(frame.problems),
    }


def problem_rows(problems: tuple[ByteProblem, ...]) -> list[dict[str, Any]]:
    """Problems as JSON has them."""
    return [{"rule": p.rule, "offset": p.offset, "message": p.message, "field": p.path or None} for p in problems]


def _read(catalog: Catalog, given: Any, *, spans: bool) -> tuple[Frame, bytes]:
    if not isinstance(given, dict):
        raise BadInput("a line has to be a JSON object")
    data = hex_bytes(given.get("hex"))
    if given.get("direction") is None:
        frame = decode_body(catalog, _text(given, "message"), _number(given, "version"), data, spans=spans)
    elif given["direction"] == "request":
        frame = decode_request(catalog, data, spans=spans)
    elif given["direction"] == "response":
        key, version = _number(given, "api_key"), _number(given, "api_version")
        frame = decode_response(catalog, key, version, data, spans=spans)
    else:
        raise BadInput('"direction" has to be "request" or "response"')
    return frame, data


def encode_line(catalog: Catalog, line: bytes) -> dict[str, Any]:
    """The answer to one line of JSON, as `encode_object` gives it."""
    try:
        given = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        return _encoded("", -1, None, b"", (ByteProblem("codec/input-invalid", 0, f"the line is not JSON: {error}"),))
    return encode_object(catalog, given)


def encode_object(catalog: Catalog, given: Any) -> dict[str, Any]:
    """The answer to the same objects with `value`, and for frames `header`, in place of `hex`.

    A response to ApiVersions with UNSUPPORTED_VERSION is written in version 0, in which it is read (KIP-511).
    """
    try:
        message, version = _chosen(catalog, given)
    except BadInput as error:
        return _encoded("", -1, None, b"", (ByteProblem("codec/input-invalid", 0, str(error)),))
    try:
        body, problems = catalog.codec(message, version).encode(given.get("value"))
    except UnusableLayout as error:
        return _encoded(message.name, version, None, b"", (ByteProblem("codec/layout-unusable", 0, str(error)),))
    if given.get("direction") is None and not isinstance(given.get("header"), dict):
        return _encoded(message.name, version, None, body, problems)
    number, header = catalog.header(message, version)
    if header is None:
        return _encoded(
            message.name, version, number, b"", (ByteProblem("codec/header-unknown", 0, "no set has its header"),)
        )
    named = {"requestApiKey": message.api_key, "requestApiVersion": version} if message.type == "request" else {}
    front, more = header.encode({**named, **(given.get("header") or {})})
    moved = tuple(msgspec.structs.replace(one, offset=one.offset + len(front)) for one in problems)
    return _encoded(message.name, version, number, front + body, (*more, *moved))


def _encoded(
    name: str, version: int, header: int | None, data: bytes, problems: tuple[ByteProblem, ...]
) -> dict[str, Any]:
    return {
        "message": name or None,
        "version": version if version >= 0 else None,
        "header_version": header,
        "hex": None if problems else data.hex(),
        "length": 0 if problems else len(data),
        "problems": problem_rows(problems),
    }


def _chosen(catalog: Catalog, given: Any) -> tuple[Message, int]:
    if not isinstance(given, dict):
        raise BadInput("a line has to be a JSON object")
    if given.get("direction") is not None:
        if given["direction"] not in ("request", "response"):
            raise BadInput('"direction" has to be "request" or "response"')
        key, version = _number(given, "api_key"), _number(given, "api_version")
        version = 0 if _falls_back(given) else version
        messages = catalog.keyed(given["direction"], key)
        what = f"{given['direction']} with the API key {key}"
    else:
        name, version = _text(given, "message"), _number(given, "version")
        messages = catalog.named(name)
        what = name
    message = having(messages, version)
    if message is None:
        raise BadInput(f"no set has {messages[0].name if messages else what}{f' {version}' if messages else ''}")
    return message, version


def _falls_back(given: dict[str, Any]) -> bool:
    value = given.get("value")
    unsupported = isinstance(value, dict) and value.get("errorCode") == UNSUPPORTED_VERSION
    return given["direction"] == "response" and given["api_key"] == API_VERSIONS and unsupported


def hex_bytes(text: Any) -> bytes:
    """The bytes of hexadecimal digits, blanks between them allowed. Raises BadInput."""
    if not isinstance(text, str):
        raise BadInput('"hex" has to be text')
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise BadInput('"hex" has to be pairs of hexadecimal digits') from None


def _text(given: dict[str, Any], key: str) -> str:
    if not isinstance(given.get(key), str):
        raise BadInput(f'"{key}" has to be text')
    return str(given[key])


def _number(given: dict[str, Any], key: str) -> int:
    value = given.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadInput(f'"{key}" has to be a number')
    return value
