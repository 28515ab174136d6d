"""Lists and results as servers really send them."""

from __future__ import annotations

import pytest

from servers.cases.recorded import connected


def names(listing):
    return [tool["name"] for tool in listing[0]]


async def test_all_pages_are_read():
    async with connected("three_pages") as server:
        client = server.client
        assert names(await client.list_all_tools_raw()) == [f"tool_{n:03d}" for n in range(250)]
        assert len(names(await client.list_all_prompts_raw())) == 120
        assert len(names(await client.list_all_resources_raw())) == 120
        assert len(names(await client.list_all_resource_templates_raw())) == 120
        assert server.sent().count("tools/list") == 3


async def test_a_cursor_that_does_not_advance_is_not_followed_for_ever():
    async with connected("stuck_cursor") as server:
        tools, notes = await server.client.list_all_tools_raw()
        assert len(tools) == 8
        assert notes == ["tools/list: the pages do not end; stopped at cursor '8'"]
        assert server.sent().count("tools/list") == 2


async def test_an_empty_cursor_ends_the_list():
    async with connected("stuck_cursor", "") as server:
        assert len((await server.client.list_all_tools_raw())[0]) == 8
        assert server.sent().count("tools/list") == 1


async def test_pages_that_bring_nothing_new_end_the_list():
    async with connected("endless_pages") as server:
        tools, notes = await server.client.list_all_tools_raw()
        assert (len(tools), len(notes)) == (2, 1)
        assert server.sent().count("tools/list") == 2


async def test_odd_schemas_cost_nobody_and_what_is_no_tool_costs_only_itself():
    async with connected("odd_schemas") as server:
        listing = await server.client.list_all_tools_raw()
        assert names(listing) == [
            *("good", "bool_prop", "no_properties", "empty_schema", "props_is_list", "props_null"),
            *("type_list", "bad_ref", "remote_ref", "big_enum", "listed"),
        ]
        assert listing[1] == [
            "tools/list: an entry without name was left out",
            "tools/list: an entry without name was left out",
            "tools/list: an entry that is not an object was left out",
            "tools/list: 1 entries were listed twice",
            "The tool 'listed' has an inputSchema that is not an object",
        ]
        assert await server.call("good", {"a": None}) == '{"a": null}'
        assert await server.call("listed", {"raw": 1}) == '{"raw": 1}'


async def test_lists_that_are_declared_but_not_served_are_empty_with_a_note():
    async with connected("declared_not_served") as server:
        assert names(await server.client.list_all_tools_raw()) == ["echo"]
        for listed, error in (
            (await server.client.list_all_prompts_raw(), "Method not found (code -32601)"),
            (await server.client.list_all_resources_raw(), "not implemented (code -32000)"),
        ):
            assert listed[0] == []
            assert len(listed[1]) == 1
            assert error in listed[1][0]


async def test_lists_that_are_not_declared_are_not_asked_for():
    async with connected("late_answers") as server:
        assert await server.client.list_all_resources_raw() == ([], [])
        assert await server.client.list_all_resource_templates_raw() == ([], [])
        assert not [method for method in server.sent() if method.startswith("resources/")]


@pytest.mark.parametrize(
    ("tool", "warning"),
    [
        ("fits", ""),
        ("says_no", ""),
        ("unlisted", ""),
        ("misfits", "does not match the tool's outputSchema: 'one' is not of type 'integer' (at $.x)"),
        ("unstructured", "its result has no structuredContent"),
        ("bad_schema", "the schema cannot be used"),
        ("dead_ref", "the schema cannot be used"),
        ("no_content", "no list of content"),
    ],
)
async def test_a_result_is_given_as_it_came_with_a_warning_where_it_is_odd(tool, warning):
    async with connected("results") as server:
        await server.client.list_all_tools_raw()
        result, warnings = await server.client.call_tool_raw(tool, {})
        assert result == server.messages("in")[-1]["result"]
        assert len(warnings) == bool(warning)
        assert warning in "".join(warnings)


async def test_prompts_and_resources_are_given_as_they_came():
    async with connected("../good") as server:
        prompt = await server.client.get_prompt_raw("greet", {"name": "Ada"})
        assert prompt["messages"][0]["content"]["text"] == "Write a friendly greeting for Ada."
        resource = await server.client.read_resource_raw("memo://welcome")
        assert resource["contents"][0]["text"] == "Welcome to the good server."
        assert len((await server.client.list_all_resources_raw())[0]) == 2


async def test_completions_are_given_as_they_came():
    reference = {"type": "ref/prompt", "name": "greet"}
    async with connected("results") as server:
        answer = await server.client.complete_raw(reference, "style", "fri")
        assert answer == {"completion": {"values": ["fria", "frib"]}, "asked": reference}
