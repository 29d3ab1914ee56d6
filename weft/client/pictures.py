"""A session, and the trace of a step, as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from weft.core.device_name import short_name
from weft.core.html import card, escape, table

if TYPE_CHECKING:
    from weft.client.session import BaseSession

MOST_BARS = 2000
MOST_LINES = 10
_WIDTH, _ROW, _LABEL = 900, 18, 150
_COLOURS = ("#3b7dd8", "#e08e2b", "#2a9d5c", "#d1495b", "#7d5fb2", "#4aa3a2", "#9c6b30", "#708090")


def session_card(session: BaseSession) -> str:
    """Where a session runs what."""
    rows: list[tuple[str, object]] = [
        ("state", "closed" if session._closed else "open"),
        ("target", session.sess_str or "this process"),
        ("graph", f"{session.graph.version} operations"),
    ]
    devices = [] if session._closed else session.list_devices()
    lines = [(each.name, each.device_type, _gibibytes(each.memory_limit_bytes)) for each in devices]
    listed = table(("device", "type", "memory"), lines) if lines else ""
    return card(type(session).__name__, rows) + listed


def _gibibytes(count: int) -> str:
    return f"{count / 2**30:.1f} GiB" if count > 0 else ""


def run_metadata_timeline(metadata: Any) -> str:
    """The traced step: a row of bars for each device and thread, and the costliest nodes."""
    rows = dict(_rows(metadata.step_stats))
    if not any(rows.values()):
        return card("RunMetadata", [("trace", "none: run with trace_level=FULL_TRACE")])
    bars = [bar for row in rows.values() for bar in row]
    start = min(bar.all_start_micros for bar in bars)
    end = max(bar.all_start_micros + bar.all_end_rel_micros for bar in bars)
    most = sorted(bars, key=lambda bar: -bar.all_end_rel_micros)
    drawn = {id(bar) for bar in most[:MOST_BARS]}
    parts = []
    for number, (title, row) in enumerate(rows.items()):
        seen = [bar for bar in row if id(bar) in drawn]
        parts.append(_drawn_row(number, title, seen, start, max(1, end - start)))
    left_out = f", the {MOST_BARS} longest are drawn" if len(bars) > MOST_BARS else ""
    said = f"RunMetadata: {len(bars)} nodes in {(end - start) / 1e3:.2f} ms{left_out}"
    costly = [(bar.node_name, f"{bar.all_end_rel_micros} us") for bar in most[:MOST_LINES]]
    height = _ROW * len(rows)
    return (
        f'<div><code>{said}</code><svg viewBox="0 0 {_LABEL + _WIDTH} {height}"'
        f' style="width:100%">{"".join(parts)}</svg>{table(("node", "took"), costly)}</div>'
    )


def _rows(stats: Any) -> Iterator[tuple[str, list[Any]]]:
    for device in stats.dev_stats:
        threads: dict[int, list[Any]] = {}
        for node in device.node_stats:
            threads.setdefault(node.thread_id, []).append(node)
        for number, nodes in enumerate(threads.values()):
            yield f"{short_name(device.device)} {number}", nodes


def _drawn_row(number: int, title: str, bars: list[Any], start: int, length: int) -> str:
    y = number * _ROW
    label = f'<text x="0" y="{y + 13}" font-size="11" fill="currentColor">{escape(title)}</text>'
    return label + "".join(_drawn_bar(bar, y, start, length) for bar in bars)


def _drawn_bar(bar: Any, y: int, start: int, length: int) -> str:
    x = _LABEL + (bar.all_start_micros - start) / length * _WIDTH
    width = max(1.0, bar.all_end_rel_micros / length * _WIDTH)
    kind = bar.timeline_label.partition(" = ")[2].partition("(")[0] or bar.node_name
    colour = _COLOURS[sum(kind.encode()) % len(_COLOURS)]
    title = escape(f"{bar.timeline_label or bar.node_name}: {bar.all_end_rel_micros} us")
    return (
        f'<rect x="{x:.1f}" y="{y + 2}" width="{width:.1f}" height="{_ROW - 4}" fill="{colour}">'
        f"<title>{title}</title></rect>"
    )
