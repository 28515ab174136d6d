"""Tools, prompts and resources as the server described them."""

import re

from mcp_patchbay.domain.catalog import (
    PromptInfo,
    ResourceInfo,
    ToolInfo,
    ToolResult,
    prompt_infos,
    stable_id,
    tool_infos,
)
from mcp_patchbay.domain.filters import Patterns


def test_an_id_is_a_letter_and_32_hex_digits_and_always_the_same() -> None:
    tool = ToolInfo("files", "read", {"name": "read"})
    assert re.fullmatch(r"f[0-9a-f]{32}", tool.id)
    assert tool.id == ToolInfo("files", "read", {}).id == stable_id("f", "files", "read")
    assert re.fullmatch(r"p[0-9a-f]{32}", PromptInfo("files", "read", {}).id)
    assert re.fullmatch(r"r[0-9a-f]{32}", ResourceInfo("files", "file:///a", {}).id)


def test_ids_differ_between_servers_and_names() -> None:
    ids = {
        ToolInfo(server, name, {}).id for server, name in [("a", "b"), ("ab", ""), ("", "ab"), ("a", "c"), ("b", "b")]
    }
    assert len(ids) == 5


def test_an_id_can_be_made_of_any_name_that_json_can_hold() -> None:
    assert len(stable_id("f", "grün", "\ud800")) == 33


def test_a_tool_without_a_description_is_called_by_server_and_name() -> None:
    assert ToolInfo("files", "read", {}).description == "files - read"
    assert ToolInfo("files", "read", {"description": " "}).description == "files - read"
    assert ToolInfo("files", "read", {"description": None}).description == "files - read"
    assert ToolInfo("files", "read", {"description": "Reads"}).description == "Reads"
    assert PromptInfo("files", "ask", {}).description == "files - ask"


def test_a_title_comes_from_the_tool_then_its_annotations_then_its_name() -> None:
    assert ToolInfo("s", "t", {"title": "A", "annotations": {"title": "B"}}).title == "A"
    assert ToolInfo("s", "t", {"annotations": {"title": "B"}}).title == "B"
    assert ToolInfo("s", "t", {"annotations": None}).title == "t"
    assert ToolInfo("s", "t", {"title": 3}).title == "t"
    assert PromptInfo("s", "p", {"title": "P"}).title == "P"


def test_the_filters_decide_on_every_tool_and_prompt() -> None:
    raw = [{"name": "read_file"}, {"name": "write_file"}]
    patterns = Patterns(allow=("read_*",))
    tools = tool_infos("files", raw, patterns)
    assert [(tool.name, tool.visible, tool.decided_by) for tool in tools] == [
        ("read_file", True, "allow read_*"),
        ("write_file", False, "not allowed"),
    ]
    assert [prompt.visible for prompt in prompt_infos("files", raw, patterns)] == [True, False]


def test_json_of_a_tool_has_the_keys_of_the_cli() -> None:
    schema = {"type": "object"}
    tool = ToolInfo("files", "read", {"inputSchema": schema})
    assert tool.to_json() == {
        "server": "files",
        "name": "read",
        "id": tool.id,
        "title": "read",
        "description": "files - read",
        "inputSchema": schema,
        "visible": True,
        "decided_by": "all",
    }
    prompt = PromptInfo("files", "ask", {"arguments": [{"name": "q", "required": True}, "odd"]})
    assert prompt.to_json()["arguments"] == [{"name": "q", "required": True}]


def test_what_a_server_leaves_out_is_empty_never_none() -> None:
    resource = ResourceInfo("s", "file:///a", {"mimeType": None, "description": None, "name": None})
    assert (resource.name, resource.mime_type, resource.description) == ("file:///a", "", "")
    assert PromptInfo("s", "p", {"arguments": None}).arguments == []
    assert ToolInfo("s", "t", {}).output_schema is None


def test_a_result_gives_its_texts_and_whether_the_tool_said_no() -> None:
    blocks = [{"type": "text", "text": "a"}, {"type": "image", "data": ""}, "odd", {"type": "text", "text": "b"}]
    result = ToolResult({"content": blocks, "isError": True, "structuredContent": {"x": 1}}, seconds=0.5)
    assert result.text == "a\nb"
    assert result.is_error
    assert result.structured == {"x": 1}
    assert ToolResult({"content": None}).content == []
    assert not ToolResult({"isError": "yes"}).is_error


def test_a_tools_raw_words_are_not_in_its_repr() -> None:
    assert "hunter2" not in repr(ToolInfo("s", "t", {"description": "hunter2"}))
