"""Which tools and prompts of a server are let through."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp_patchbay.domain.errors import field_error
from mcp_patchbay.domain.globs import check_pattern, matches


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a name passes, why: `rule` ("all", "allow", "block", "not allowed") and the `pattern` that decided."""

    visible: bool
    rule: str
    pattern: str = ""

    def __str__(self) -> str:
        return f"{self.rule} {self.pattern}".rstrip()


@dataclass(frozen=True, slots=True)
class Patterns:
    """Allow and block globs. Allow comes first when it is not empty, then block."""

    allow: tuple[str, ...] = ()
    block: tuple[str, ...] = ()

    def decide(self, name: str) -> Decision:
        """Say whether `name` passes and which pattern decided."""
        verdict = Decision(True, "all")
        if self.allow:
            allowed = next((p for p in self.allow if matches(name, p)), None)
            if allowed is None:
                return Decision(False, "not allowed")
            verdict = Decision(True, "allow", allowed)
        blocked = next((p for p in self.block if matches(name, p)), None)
        return verdict if blocked is None else Decision(False, "block", blocked)

    def __bool__(self) -> bool:
        return bool(self.allow or self.block)

    @classmethod
    def parse(cls, raw: Any, field: str) -> Patterns:
        """Read `{"allow": [...], "block": [...]}`.

        Raises:
            ConfigError: a list that is none, or a pattern that is no glob; it names `field`.
        """
        if raw is None:
            return cls()
        if not isinstance(raw, Mapping):
            raise field_error(field, "must be an object with the lists allow and block")
        return cls(_pattern_list(raw.get("allow"), f"{field}.allow"), _pattern_list(raw.get("block"), f"{field}.block"))

    def to_mapping(self) -> dict[str, list[str]]:
        """The form that `parse` reads, without empty lists."""
        lists = {"allow": list(self.allow), "block": list(self.block)}
        return {key: patterns for key, patterns in lists.items() if patterns}


@dataclass(frozen=True, slots=True)
class Filters:
    """The filters of one server. They hold when listing and when calling."""

    tools: Patterns = Patterns()
    prompts: Patterns = Patterns()

    @classmethod
    def parse(cls, raw: Any) -> Filters:
        """Read `{"tools": {...}, "prompts": {...}}`.

        Raises:
            ConfigError: what is there is not of that form.
        """
        if raw is None:
            return cls()
        if not isinstance(raw, Mapping):
            raise field_error("filters", "must be an object with tools and prompts")
        return cls(
            Patterns.parse(raw.get("tools"), "filters.tools"), Patterns.parse(raw.get("prompts"), "filters.prompts")
        )

    def to_mapping(self) -> dict[str, Any]:
        """The form that `parse` reads, without empty parts."""
        parts = {"tools": self.tools.to_mapping(), "prompts": self.prompts.to_mapping()}
        return {key: part for key, part in parts.items() if part}


def _pattern_list(raw: Any, field: str) -> tuple[str, ...]:
    if raw is None:
        return ()
    if isinstance(raw, str) or not isinstance(raw, Iterable):
        raise field_error(field, "must be a list of patterns")
    patterns = tuple(raw)
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise field_error(field, f"{pattern!r} is not a pattern")
        if reason := check_pattern(pattern):
            raise field_error(field, f"{pattern!r}: {reason}")
    return patterns
