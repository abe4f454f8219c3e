"""Objects with values, each as the object with its bytes."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from kiplint.codec.catalog import Catalog, having
from kiplint.codec.exchange import BadInput, ProblemObject, number_of, problem_objects, text_of
from kiplint.codec.frames import API_VERSIONS, UNSUPPORTED_VERSION
from kiplint.codec.problems import ByteProblem
from kiplint.model.message import Message
from kiplint.text.decode import NOT_JSON


class EncodedObject(msgspec.Struct, frozen=True, kw_only=True):
    """An encoded message, for JSON."""

    message: Annotated[str | None, Meta(description="Null where the message is unknown.")]
    version: int | None
    header_version: Annotated[int | None, Meta(description="Null for a body without a header.")]
    hex: Annotated[str | None, Meta(description="The bytes, null where there are problems.")]
    length: Annotated[int, Meta(description="In bytes; 0 where there are problems.")]
    problems: tuple[ProblemObject, ...]


def encode_line(catalog: Catalog, line: bytes) -> EncodedObject:
    """The bytes of a line of JSON; see `encode_object`."""
    try:
        values = msgspec.json.decode(line)
    except NOT_JSON as error:
        return _make("", -1, None, b"", (ByteProblem("codec/input-invalid", 0, f"the line is not JSON: {error}"),))
    return encode_object(catalog, values)


def encode_object(catalog: Catalog, values: Any) -> EncodedObject:
    """The bytes of an object with `value`, and for frames `header`, in place of `hex`.

    A response to ApiVersions with UNSUPPORTED_VERSION is written in version 0, in which it is read (KIP-511).
    """
    try:
        message, version = _message_of(catalog, values)
    except BadInput as error:
        return _make("", -1, None, b"", (ByteProblem("codec/input-invalid", 0, str(error)),))
    codec = catalog.codec(message, version)
    if codec.unusable:
        return _make(message.name, version, None, b"", (ByteProblem("codec/layout-unusable", 0, codec.unusable),))
    body, problems = codec.encode(values.get("value"))
    if values.get("direction") is None and not isinstance(values.get("header"), dict):
        return _make(message.name, version, None, body, problems)
    number, header = catalog.header(message, version)
    if header is None or header.unusable:
        rule = "codec/layout-unusable" if header else "codec/header-unknown"
        problem = ByteProblem(rule, 0, header.unusable if header else "no set has its header")
        return _make(message.name, version, number, b"", (problem,))
    api = {"requestApiKey": message.api_key, "requestApiVersion": version} if message.type == "request" else {}
    front, more = header.encode({**api, **(values.get("header") or {})})
    of_body = tuple(msgspec.structs.replace(problem, offset=problem.offset + len(front)) for problem in problems)
    return _make(message.name, version, number, front + body, (*more, *of_body))


def _make(name: str, version: int, header: int | None, data: bytes, problems: tuple[ByteProblem, ...]) -> EncodedObject:
    return EncodedObject(
        message=name or None,
        version=version if version >= 0 else None,
        header_version=header,
        hex=None if problems else data.hex(),
        length=0 if problems else len(data),
        problems=problem_objects(problems),
    )


def _message_of(catalog: Catalog, values: Any) -> tuple[Message, int]:
    if not isinstance(values, dict):
        raise BadInput("a line must be a JSON object")
    if values.get("direction") is not None:
        if values["direction"] not in ("request", "response"):
            raise BadInput('"direction" must be "request" or "response"')
        key, version = number_of(values, "api_key"), number_of(values, "api_version")
        version = 0 if _falls_back(values) else version
        messages = catalog.with_key(values["direction"], key)
        what = f"{values['direction']} with the API key {key}"
    else:
        name, version = text_of(values, "message"), number_of(values, "version")
        messages = catalog.with_name(name)
        what = name
    message = having(messages, version)
    if message is None:
        raise BadInput(f"no set has {messages[0].name if messages else what}{f' {version}' if messages else ''}")
    return message, version


def _falls_back(values: dict[str, Any]) -> bool:
    value = values.get("value")
    is_unsupported = isinstance(value, dict) and value.get("errorCode") == UNSUPPORTED_VERSION
    return values["direction"] == "response" and values["api_key"] == API_VERSIONS and is_unsupported
