"""Lines in, messages out."""

from __future__ import annotations

import json
import math
import random

import pytest

from mcp_patchbay.engine.stdio.framing import LineReader, TextLines, decode, encode


def read(data, limit, cuts):
    """What a reader makes of the data when it comes in pieces cut there: lines, and (id, size) for what is too big."""
    heard = []
    reader = LineReader(heard.append, lambda raw_id, size: heard.append((raw_id, size)), limit)
    start = 0
    for stop in [*cuts, len(data)]:
        if stop > start:
            reader.feed(data[start:stop])
        start = stop
    reader.end()
    return heard


BIG = b"x" * 5000
LINES = [
    *(b'{"jsonrpc":"2.0","id":%d,"result":{"t":"%s"}}' % (k, b"x" * (k * 37 % 400)) for k in range(40)),
    b'{"jsonrpc":"2.0","id":41,"result":{"t":"%s"}}' % BIG,
    b'{"result":{"id":9,"t":"%s"},"jsonrpc":"2.0","id":77}' % BIG,
    b'{"id":"a1","jsonrpc":"2.0","result":"%s"}' % BIG,
    b'{"result":{"x":{"t":"%s","id":5}}}' % BIG,
]


@pytest.mark.parametrize("seed", range(20))
def test_lines_come_out_whole_however_the_pipe_splits_them(seed):
    data = b"\n".join(LINES)
    cuts = sorted(random.Random(seed).sample(range(1, len(data)), 30 * seed))
    assert read(data, 10**9, cuts) == LINES


@pytest.mark.parametrize("seed", range(20))
def test_a_line_over_the_limit_is_dropped_and_its_id_found_at_either_end(seed):
    data = b"\n".join(LINES)
    cuts = sorted(random.Random(seed).sample(range(1, len(data)), 30 * seed))
    too_big = [(41, len(LINES[40])), (77, len(LINES[41])), ("a1", len(LINES[42])), (None, len(LINES[43]))]
    assert read(data, 1000, cuts) == [*LINES[:40], *too_big]


def test_memory_stays_bounded_while_a_line_over_the_limit_is_skipped():
    reader = LineReader(lambda line: None, lambda raw_id, size: None, 1000)
    for _ in range(1000):
        reader.feed(b"y" * 1000)
    assert sum(map(len, reader._parts)) <= 256


def test_what_orjson_refuses_is_still_read():
    value = decode(b'{"nan":NaN,"half":"\\ud800","bad":"caf\xe9"}')
    assert math.isnan(value["nan"])
    assert (value["half"], value["bad"]) == ("\ud800", "caf\ufffd")
    assert decode(b'\xef\xbb\xbf{"a":1}') == {"a": 1}


@pytest.mark.parametrize("number", [2**64, -(2**64), 10**40, 2**63, 2**64 - 1, 9007199254740993, 12345678901234567890])
def test_integers_keep_every_digit(number):
    assert decode(b'{"n":%d}' % number) == {"n": number}
    assert json.loads(encode({"n": number})) == {"n": number}


def test_many_digits_elsewhere_do_no_harm():
    assert decode(b'{"pi":3.14159265358979323846,"s":"00000000000000000000"}') == {"pi": math.pi, "s": "0" * 20}


@pytest.mark.parametrize(
    "line", [b"", b"hello", b"Content-Length: 12", b'{"a":', b"[" * 100_000, b'{"n":%s}' % (b"9" * 5000), b"\xff\xfe"]
)
def test_what_is_not_json_is_a_value_error(line):
    with pytest.raises(ValueError, match=r"."):
        decode(line)


def test_lone_surrogates_are_sent_as_escapes():
    assert encode({"s": "\ud800"}) == b'{"s":"\\ud800"}'


def test_a_line_never_holds_a_newline():
    assert b"\n" not in encode({"s": "a\nb", "n": 2**70, "t": "c\nd"})


def test_carriage_returns_end_lines_of_text_and_empty_lines_are_left_out():
    lines = []
    text = TextLines(lines.append)
    for piece in (b"one\r\ntw", b"o\r", b"\nthree\rfour\n\n", b"five"):
        text.feed(piece)
    assert lines == [b"one", b"two", b"three", b"four"]
    assert text.pending
    text.flush()
    assert lines[-1] == b"five"
    assert not text.pending


def test_text_without_any_line_end_is_given_out_in_pieces():
    lines = []
    text = TextLines(lines.append, limit=10)
    text.feed(b"x" * 25)
    assert lines == [b"x" * 10, b"x" * 10]
    text.flush()
    assert lines[-1] == b"x" * 5
