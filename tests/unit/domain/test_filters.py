"""Filters decide what passes and say which pattern decided."""

import pytest

from mcp_patchbay.domain.errors import ConfigError
from mcp_patchbay.domain.filters import Decision, Filters, Patterns


def test_without_patterns_everything_passes() -> None:
    assert Patterns().decide("anything") == Decision(True, "all")
    assert not Patterns()


@pytest.mark.parametrize(
    ("name", "decision"),
    [
        ("allowed-tool", Decision(True, "allow", "allowed-tool")),
        ("pattern-1", Decision(True, "allow", "pattern-*")),
        ("blocked-tool", Decision(False, "not allowed")),
        ("pattern-secret", Decision(False, "block", "*-secret")),
        ("other", Decision(False, "not allowed")),
    ],
)
def test_allow_comes_first_and_block_wins_over_it(name: str, decision: Decision) -> None:
    patterns = Patterns(allow=("allowed-tool", "pattern-*"), block=("blocked-tool", "*-secret"))
    assert patterns.decide(name) == decision


def test_block_alone_holds_back_only_what_it_names() -> None:
    patterns = Patterns(block=("write_*",))
    assert patterns.decide("read_file") == Decision(True, "all")
    assert patterns.decide("write_file") == Decision(False, "block", "write_*")


def test_the_first_pattern_that_matches_is_the_one_that_decided() -> None:
    assert Patterns(allow=("*", "read_*")).decide("read_file").pattern == "*"


def test_a_decision_reads_as_rule_and_pattern() -> None:
    assert str(Decision(True, "allow", "read_*")) == "allow read_*"
    assert str(Decision(False, "not allowed")) == "not allowed"


def test_filters_come_back_as_they_were_written() -> None:
    raw = {"tools": {"allow": ["a*"], "block": ["b"]}, "prompts": {"block": ["c"]}}
    filters = Filters.parse(raw)
    assert filters.tools.allow == ("a*",)
    assert filters.to_mapping() == raw
    assert Filters.parse(filters.to_mapping()) == filters


@pytest.mark.parametrize("raw", [None, {}, {"tools": None}, {"tools": {"allow": None}}, {"tools": {}}])
def test_no_filters_may_be_said_in_many_ways(raw: object) -> None:
    assert Filters.parse(raw) == Filters()
    assert Filters.parse(raw).to_mapping() == {}


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ("read_*", "filters"),
        ({"tools": ["a"]}, "filters.tools"),
        ({"tools": {"allow": "a"}}, "filters.tools.allow"),
        ({"tools": {"allow": 3}}, "filters.tools.allow"),
        ({"tools": {"block": [1]}}, "filters.tools.block"),
        ({"prompts": {"block": ["[a"]}}, "filters.prompts.block"),
        ({"prompts": {"allow": [""]}}, "filters.prompts.allow"),
    ],
)
def test_filters_of_another_shape_are_refused_and_named(raw: object, field: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        Filters.parse(raw)
    assert refusal.value.field == field
