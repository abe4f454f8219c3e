"""Schemas as data: types by name, and what Arrow makes of them."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiplint.pipeline.lake.schema import array, arrow_schema, arrow_type, batch, columns, ddl, number, table, text
from kiplint.pipeline.tables import TABLES

PLAIN = ["string", "int", "bigint", "boolean", "binary", "timestamp"]


def _struct(kinds: Mapping[str, str]) -> str:
    return array(kinds).removeprefix("array<").removesuffix(">")


TYPES = st.recursive(
    st.sampled_from(PLAIN),
    lambda inner: st.one_of(
        inner.map(lambda kind: f"array<{kind}>"),
        st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, min_size=1).map(_struct),
    ),
    max_leaves=5,
)


def _name(kind: pa.DataType) -> str:
    """A type of Arrow's in Spark's words again."""
    if pa.types.is_list(kind):
        return f"array<{_name(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return _struct({field.name: _name(field.type) for field in kind})
    return next(name for name in PLAIN if arrow_type(name) == kind)


@given(TYPES)
def test_types_come_back_as_they_were(kind: str) -> None:
    assert _name(arrow_type(kind)) == kind


@pytest.mark.parametrize("kind", ["", "text", "array<text>", "int int", "array<int", "struct<a>"])
def test_other_words_are_refused(kind: str) -> None:
    with pytest.raises((ValueError, IndexError)):
        arrow_type(kind)


def test_a_column_without_a_type_is_a_string() -> None:
    assert columns("a, b int, c array<string>") == {"a": "string", "b": "int", "c": "array<string>"}


def test_ddl() -> None:
    columns = {"name": "string", "ranges": array({"lowest": "int", "highest": "int"})}
    assert ddl(columns) == "`name` string, `ranges` array<struct<lowest:int,highest:int>>"


def test_every_table_has_a_schema_that_arrow_knows() -> None:
    assert len({kind.NAME for kind in TABLES.values()}) == len(TABLES)
    assert all(arrow_schema(kind.COLUMNS).names == list(kind.COLUMNS) for kind in TABLES.values())
    assert all(kind.ABOUT.endswith(".") for kind in TABLES.values())


def test_rows_become_batches() -> None:
    columns = {"name": "string", "ranges": array({"lowest": "int", "highest": "int"})}
    rows = [("a", [{"lowest": 0, "highest": 3}]), (None, [])]
    assert batch(columns, rows).to_pylist() == [
        {"name": "a", "ranges": [{"lowest": 0, "highest": 3}]},
        {"name": None, "ranges": []},
    ]
    assert table(columns, []).num_rows == 0


def test_texts_that_utf_8_cannot_hold_become_escapes() -> None:
    columns = {"name": "string", "ranges": array({"path": "string", "tag": "int"}), "all": "array<string>"}
    rows = [("a\ud800", [{"path": "\udc80", "tag": 1}], None), ("\\ud800", [], ["é", "\udfff"])]
    assert batch(columns, rows).to_pylist() == [
        {"name": "a\\ud800", "ranges": [{"path": "\\udc80", "tag": 1}], "all": None},
        {"name": "\\ud800", "ranges": [], "all": ["é", "\\udfff"]},
    ]


@given(st.text(st.characters(min_codepoint=0, max_codepoint=0x10FFFF)))
def test_any_text_of_a_definition_can_be_written(value: str) -> None:
    assert pa.array([text(value)]).to_pylist() == [text(value)]
    if value.isascii():
        assert text(value) == value


def test_numbers_that_fit_no_column_are_left_out() -> None:
    assert [number(value) for value in (None, 0, -1, 2**31 - 1, 2**31, 10**400)] == [None, 0, -1, 2**31 - 1, None, None]
