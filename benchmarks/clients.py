"""The codecs of other people's clients, by message and version."""

import importlib
import io
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from benchmarks.outcome import SkipError


class Entity(NamedTuple):
    """How a client reads and writes one version of a message."""

    read: Callable[[bytes], Any]
    write: Callable[[Any], bytes]

    def read_whole(self, data: bytes) -> Any:
        """The value of bytes that it reads and writes again as they were, else None."""
        try:
            value = self.read(data)
            return value if self.write(value) == data else None
        except Exception:
            return None


Entities = Callable[[str, int], Entity | None]


def submodules(package: Any) -> Iterator[str]:
    """The names of all modules of a package."""
    return (module.name for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."))


def kafka_python() -> Entities:
    """Those of kafka-python, which compiles its schemas as kiplint does; raises SkipError."""
    try:
        import kafka.protocol
        from kafka.protocol.api_message import ApiMessage
    except ImportError:
        raise SkipError("kafka-python: it is not installed") from None
    for name in submodules(kafka.protocol):
        if not name.startswith(("kafka.protocol.old", "kafka.protocol.generate_stubs")):
            importlib.import_module(name)
    classes = [*ApiMessage.__subclasses__()]
    for message_class in classes:
        classes += message_class.__subclasses__()
    classes_by_name = {
        message_class.name: message_class
        for message_class in reversed(classes)
        if message_class._class_version is None and isinstance(message_class._json, dict)
    }

    @cache
    def entity(name: str, version: int) -> Entity | None:
        cls = classes_by_name.get(name)
        if cls is None or version > cls.max_version:
            return None

        def write(value: Any) -> bytes:
            value._header = None
            return bytes(value.encode(version=version))

        return Entity(lambda data: cls.decode(data, version=version), write)

    return entity


def kio() -> Entities:
    """Those of kio: its reader is native, its writer is not; raises SkipError."""
    try:
        import kio.schema
        from kio.serial import entity_reader, entity_writer
    except ImportError:
        raise SkipError("kio: it is not installed") from None
    modules = {}
    for name in submodules(kio.schema):
        parts = name.split(".")
        if len(parts) == 5:
            suffix = parts[4] if parts[4] in ("request", "response") else ""
            modules[parts[2].replace("_", "") + suffix, int(parts[3].removeprefix("v"))] = name

    @cache
    def entity(name: str, version: int) -> Entity | None:
        module = modules.get((name.lower(), version))
        cls = getattr(importlib.import_module(module), name, None) if module else None
        if cls is None:
            return None
        reader, writer = entity_reader(cls), entity_writer(cls)

        def write(value: Any) -> bytes:
            out = io.BytesIO()
            writer(out, value)
            return out.getvalue()

        return Entity(lambda data: reader(data, 0)[0], write)

    return entity
