"""What a server offers: its tools, prompts and resources, and the result of a call."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp_patchbay.domain.filters import Decision, Patterns

VISIBLE = Decision(True, "all")


def stable_id(prefix: str, server: str, name: str) -> str:
    """`f`, `p` or `r` and 32 hex digits: always the same for one server and name."""
    digest = hashlib.sha256(f"{server}\0{name}".encode("utf-8", "surrogatepass")).hexdigest()
    return prefix + digest[:32]


@dataclass(frozen=True, slots=True)
class Offer:
    """What a server offers under a name, as it described it (`raw`, unaltered), and whether it passes the filters."""

    server: str
    name: str
    raw: Mapping[str, Any] = field(repr=False)
    decision: Decision = VISIBLE

    @property
    def visible(self) -> bool:
        return self.decision.visible

    @property
    def decided_by(self) -> str:
        """The rule and pattern that decided, such as "allow read_*"."""
        return str(self.decision)

    @property
    def title(self) -> str:
        title = self.raw.get("title")
        return title if isinstance(title, str) and title else self.name

    @property
    def description(self) -> str:
        """The server's description, or `SERVER - NAME` when there is none."""
        text = self.raw.get("description")
        return text if isinstance(text, str) and text.strip() else f"{self.server} - {self.name}"


@dataclass(frozen=True, slots=True)
class ToolInfo(Offer):
    """A tool."""

    @property
    def id(self) -> str:
        return stable_id("f", self.server, self.name)

    @property
    def title(self) -> str:
        """The tool's title; older servers write it among the annotations."""
        annotations = self.raw.get("annotations")
        older = annotations.get("title") if isinstance(annotations, Mapping) else None
        title = self.raw.get("title") or older
        return title if isinstance(title, str) and title else self.name

    @property
    def input_schema(self) -> Any:
        return self.raw.get("inputSchema", {})

    @property
    def output_schema(self) -> Any:
        return self.raw.get("outputSchema")

    def to_json(self) -> dict[str, Any]:
        """The shape that `mcp-patchbay tools --json` prints."""
        return {
            "server": self.server,
            "name": self.name,
            "id": self.id,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.input_schema,
            "visible": self.visible,
            "decided_by": self.decided_by,
        }


@dataclass(frozen=True, slots=True)
class PromptInfo(Offer):
    """A prompt."""

    @property
    def id(self) -> str:
        return stable_id("p", self.server, self.name)

    @property
    def arguments(self) -> list[Mapping[str, Any]]:
        """The prompt's arguments: `name`, `description`, `required`."""
        arguments = self.raw.get("arguments")
        return [a for a in arguments if isinstance(a, Mapping)] if isinstance(arguments, list) else []

    def to_json(self) -> dict[str, Any]:
        """The shape that `mcp-patchbay prompts --json` prints."""
        return {
            "server": self.server,
            "name": self.name,
            "id": self.id,
            "title": self.title,
            "description": self.description,
            "arguments": self.arguments,
            "visible": self.visible,
            "decided_by": self.decided_by,
        }


@dataclass(frozen=True, slots=True)
class ResourceInfo:
    """A resource (or, when `template` is set, a URI template of resources) as the server described it."""

    server: str
    uri: str
    raw: Mapping[str, Any] = field(repr=False)
    template: bool = False

    @property
    def id(self) -> str:
        return stable_id("r", self.server, self.uri)

    @property
    def name(self) -> str:
        name = self.raw.get("title") or self.raw.get("name")
        return name if isinstance(name, str) and name else self.uri

    @property
    def mime_type(self) -> str:
        mime = self.raw.get("mimeType")
        return mime if isinstance(mime, str) else ""

    @property
    def description(self) -> str:
        text = self.raw.get("description")
        return text if isinstance(text, str) else ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer of a tool call.

    Attributes:
        raw: the MCP result as the server sent it.
        seconds: how long the call took.
        warnings: what is odd about it, such as a result that breaks the tool's own outputSchema.
    """

    raw: Mapping[str, Any]
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()

    @property
    def is_error(self) -> bool:
        """Whether the tool itself said that it failed."""
        return self.raw.get("isError") is True

    @property
    def content(self) -> list[Any]:
        """The content blocks (text, image, audio, resource, resource_link), as plain mappings."""
        content = self.raw.get("content")
        return list(content) if isinstance(content, list) else []

    @property
    def structured(self) -> Any:
        return self.raw.get("structuredContent")

    @property
    def text(self) -> str:
        """All text blocks, one after another."""
        return "\n".join(
            block["text"] for block in self.content if isinstance(block, Mapping) and isinstance(block.get("text"), str)
        )


def tool_infos(server: str, tools: Sequence[Mapping[str, Any]], patterns: Patterns) -> tuple[ToolInfo, ...]:
    """What the server listed, with the filters' decision on each."""
    return tuple(ToolInfo(server, raw["name"], raw, patterns.decide(raw["name"])) for raw in tools)


def prompt_infos(server: str, prompts: Sequence[Mapping[str, Any]], patterns: Patterns) -> tuple[PromptInfo, ...]:
    """What the server listed, with the filters' decision on each."""
    return tuple(PromptInfo(server, raw["name"], raw, patterns.decide(raw["name"])) for raw in prompts)
