"""Bounded memories."""

from __future__ import annotations

from mcp_patchbay.domain.records import LogLine, TrafficEntry
from mcp_patchbay.engine.rings import LARGEST_ENTRY, LONGEST_LINE, LogRing, Ring, TrafficRing


def ring_of(count, max_items=5, max_bytes=1000):
    ring = Ring(max_items, max_bytes)
    for number in range(count):
        ring.append(number, 10)
    return ring


def test_the_newest_items_are_kept_up_to_the_count():
    ring = ring_of(12)
    assert ring.read(0) == [7, 8, 9, 10, 11]
    assert (ring.total, ring.first, len(ring), ring.size) == (12, 7, 5, 50)


def test_the_newest_items_are_kept_up_to_the_bytes():
    assert ring_of(12, max_items=100, max_bytes=35).read(0) == [9, 10, 11]


def test_an_index_means_the_same_item_for_ever():
    ring = ring_of(8)
    assert ring.read(5, 7) == [5, 6]
    ring.append(8, 10)
    assert ring.read(5, 7) == [5, 6]
    assert ring.read(2, 5) == [4]


def test_reading_outside_of_what_is_kept_gives_what_there_is():
    ring = ring_of(8)
    assert ring.read(0, 2) == []
    assert ring.read(8) == []
    assert ring.read(7, 100) == [7]
    assert ring.read(6, 3) == []


def test_clearing_forgets_the_items_and_counts_on():
    ring = ring_of(8)
    ring.clear()
    assert (ring.read(0), ring.total, ring.first, ring.size) == ([], 8, 8, 0)
    ring.append(8, 10)
    assert ring.read(8) == [8]


def test_an_item_larger_than_the_whole_ring_is_counted_but_not_kept():
    ring = ring_of(2, max_bytes=30)
    ring.append(99, 31)
    assert (ring.read(0), ring.total, ring.size) == ([], 3, 0)


def test_a_long_log_line_is_cut_and_says_so():
    log = LogRing()
    log.append(LogLine(0.0, "stderr", "info", b"x" * 100_000))
    (line,) = log.read(0)
    assert line.text == "x" * LONGEST_LINE + " ... (cut: 100000 bytes in all)"
    assert log.size == len(line.raw)


def test_a_cut_never_splits_a_character():
    log = LogRing()
    log.append(LogLine(0.0, "stderr", "info", b"x" + "\u6c49".encode() * 50_000))
    assert "\ufffd" not in log.read(0)[0].text


def test_a_flood_of_log_lines_stays_within_the_bounds():
    log = LogRing()
    for _ in range(25_000):
        log.append(LogLine(0.0, "stderr", "info", b"x" * 1000))
    assert log.size <= 8 * 2**20
    assert log.total == 25_000


def test_a_huge_message_is_cut_in_the_traffic():
    traffic = TrafficRing()
    traffic.append(TrafficEntry(0.0, "in", b"y" * (LARGEST_ENTRY + 1)))
    assert traffic.read(0)[0].raw.endswith(b"y ... (cut: 8388609 bytes in all)")
