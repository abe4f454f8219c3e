"""The pictures of a report: specifications of Vega-Lite, drawn as SVG in the colors of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from kiplint.render.page import Picture
from kiplint.text.show import printable

Records = Sequence[Mapping[str, Any]]
WIDTH: Final = 420
BAR: Final = 18
"""The height of a row of bars."""
AXIS: Final = {
    "labelColor": "var(--muted)",
    "titleColor": "var(--muted)",
    "gridColor": "var(--line)",
    "domainColor": "var(--muted)",
    "tickColor": "var(--muted)",
    "labelFontSize": 12,
    "titleFontSize": 12,
    "titleFontWeight": "normal",
    "labelLimit": 260,
}
LEGEND: Final = {"labelColor": "var(--text)", "labelFontSize": 12, "title": None, "orient": "top", "offset": 6}
CONFIG: Final = {
    "font": "DejaVu Sans, sans-serif",
    "axis": AXIS,
    "legend": LEGEND,
    "view": {"stroke": None},
    "background": None,
}
SEVERITIES: Final = {"errors": "var(--error)", "warnings": "var(--warning)"}
STATUSES: Final = {"same": "var(--line)", "only-in-fork": "var(--accent)", "collision": "var(--error)"}


def draw_findings(line: str, revisions: Records) -> Picture:
    """The open findings of a line of history by severity: of each release, in the order of versions, or over time."""
    points = [
        {"at": revision["release"] or _time(revision["time"]), "severity": severity, "findings": revision[severity]}
        for revision in revisions
        for severity in SEVERITIES
    ]
    if revisions[0]["release"]:
        at: dict[str, Any] = {"type": "ordinal", "sort": None, "axis": {"labelAngle": -45, "labelOverlap": "greedy"}}
        mark: dict[str, Any] = {"type": "line", "point": {"size": 24}}
    else:
        at, mark = {"type": "temporal", "axis": {"tickCount": 6}}, {"type": "line", "interpolate": "step-after"}
    encoding = {
        "x": {"field": "at", "title": None, **at},
        "y": {"field": "findings", "type": "quantitative", "title": "open findings", "axis": {"tickMinStep": 1}},
        "color": {"field": "severity", "scale": _scale(SEVERITIES)},
    }
    return _picture(f"Open findings of {line}", points, mark, encoding, 170)


def draw_lifetimes(errors: Records) -> Picture:
    """A bar for each error of all sources, from when it was introduced to when it was fixed, in a row of its rule."""
    bars = [
        {
            "rule": error["rule"],
            "from": _time(error["introduced_time"]),
            "to": _time(error["end_time"]),
            "state": "open" if error["fixed_time"] is None else "ended",
        }
        for error in errors
    ]
    rules = list(dict.fromkeys(bar["rule"] for bar in bars))
    encoding = {
        "x": {"field": "from", "type": "temporal", "title": None, "axis": {"tickCount": 6}},
        "x2": {"field": "to"},
        "y": {"field": "rule", "type": "ordinal", "sort": [printable(rule) for rule in rules], "title": None},
        "color": {"field": "state", "scale": _scale({"open": "var(--error)", "ended": "var(--muted)"})},
    }
    mark = {"type": "rule", "strokeWidth": 9, "strokeCap": "round", "opacity": 0.55}  # of a day there is a dot
    return _picture("How long errors lived", bars, mark, encoding, BAR * len(rules))


def draw_drift(forks: Records) -> Picture:
    """A bar for each fork: how many versions of its messages upstream also has, never had, or encodes differently."""
    bars = [
        {"fork": fork["fork"], "status": status, "order": order, "versions": fork[status.replace("-", "_")]}
        for fork in forks
        for order, status in enumerate(STATUSES)
    ]
    encoding = {
        "x": {"field": "versions", "type": "quantitative", "title": "versions of messages", "axis": {"tickCount": 6}},
        "y": {"field": "fork", "type": "ordinal", "sort": None, "title": None},
        "color": {"field": "status", "scale": _scale(STATUSES)},
        "order": {"field": "order"},
    }
    return _picture("How far forks are from upstream", bars, {"type": "bar"}, encoding, BAR * len(forks))


def _scale(colors: Mapping[str, str]) -> Mapping[str, Any]:
    return {"domain": [*colors], "range": [*colors.values()]}


def _time(time: datetime) -> str:
    return f"{time:%Y-%m-%dT%H:%M:%S}"


def _picture(title: str, values: Records, mark: Any, encoding: Any, height: int) -> Picture:
    import vl_convert

    def shown(value: object) -> object:
        return printable(value) if isinstance(value, str) else value

    data = {"values": [{key: shown(value) for key, value in record.items()} for record in values]}
    size = {"width": WIDTH, "height": height}
    spec = {"data": data, "mark": mark, "encoding": encoding, "config": CONFIG, "background": None, **size}
    return Picture(title, vl_convert.vegalite_to_svg(spec, vl_version="5.20"))
