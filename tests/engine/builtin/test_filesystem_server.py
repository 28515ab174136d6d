"""The filesystem server as a client sees it, and beside npm's."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from mcp_patchbay.builtin.filesystem.sample import create_sample
from mcp_patchbay.builtin.registry import BuiltinServers
from servers import launch

NAMES = [
    "read_file", "read_multiple_files", "write_file", "edit_file", "create_directory", "list_directory",
    "directory_tree", "move_file", "search_files", "get_file_info", "list_allowed_directories",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    create_sample(tmp_path / "sample")
    return (tmp_path / "sample").resolve()


@asynccontextmanager
async def ours(folder: Path) -> AsyncIterator[Client]:
    server = BuiltinServers().create("filesystem", {"allowed_directories": [str(folder)]})
    async with Client(server) as client:
        yield client


@asynccontextmanager
async def npms(folder: Path) -> AsyncIterator[Client]:
    command, *args = launch.npm_server("server-filesystem", folder)
    with (folder.parent / "npm.log").open("w") as log:
        async with Client(stdio_client(StdioServerParameters(command=command, args=args), errlog=log)) as client:
            yield client


async def call(client: Client, tool: str, **arguments: object) -> str:
    result = await client.call_tool(tool, arguments)
    text = "\n".join(block.text for block in result.content)
    assert not result.is_error, text
    return text


async def refusal(client: Client, tool: str, **arguments: object) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return result.content[0].text


async def test_it_has_the_eleven_tools_with_npms_arguments(folder: Path) -> None:
    async with ours(folder) as mine, npms(folder) as theirs:
        own = {tool.name: tool for tool in (await mine.list_tools()).tools}
        other = {tool.name: tool for tool in (await theirs.list_tools()).tools}
    assert list(own) == NAMES
    for name, tool in own.items():
        assert set(tool.input_schema.get("properties", {})) == set(other[name].input_schema.get("properties", {}))
        assert set(tool.input_schema.get("required", ())) == set(other[name].input_schema.get("required", ()))
        assert tool.annotations.read_only_hint == other[name].annotations.read_only_hint
        assert bool(tool.annotations.destructive_hint) == bool(other[name].annotations.destructive_hint)
        assert tool.description
        assert tool.title


async def test_it_answers_as_npms_does(folder: Path) -> None:
    steps: list[tuple[str, dict[str, object]]] = [
        ("read_file", {"path": str(folder / "welcome.md")}),
        ("read_file", {"path": "plants.csv", "head": 2}),
        ("create_directory", {"path": str(folder / "new/deep")}),
        ("write_file", {"path": str(folder / "new/a.json"), "content": '{"a": 1}'}),
        ("read_file", {"path": str(folder / "new/a.json")}),
        ("edit_file", {"path": "new/a.json", "edits": [{"oldText": '"a": 1', "newText": '"a": 2'}], "dryRun": True}),
        ("edit_file", {"path": "new/a.json", "edits": [{"oldText": '"a": 1', "newText": '"a": 2'}]}),
        ("move_file", {"source": str(folder / "new/a.json"), "destination": str(folder / "new/b.json")}),
        ("list_directory", {"path": str(folder / "new")}),
        ("list_allowed_directories", {}),
    ]
    answers = []
    for make in (ours, npms):
        async with make(folder) as client:
            answers.append([await call(client, tool, **arguments) for tool, arguments in steps])
        (folder / "new/b.json").unlink()
        (folder / "new/deep").rmdir()
    for (tool, _), own, other in zip(steps, *answers, strict=True):
        if tool == "edit_file":  # the heads of the diffs differ: npm's writes -1,1 for -1
            own, other = (text[text.rindex("@@") :].strip() for text in (own, other))
        if tool == "list_directory":
            own, other = ("\n".join(sorted(text.split("\n"))) for text in (own, other))
        assert own == other, tool


async def test_search_and_tree_agree_with_npms(folder: Path) -> None:
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "x.md").touch()
    async with ours(folder) as mine, npms(folder) as theirs:
        for pattern in ("*.md", "**/*.md", "notes/*", "**", "nothing-*", "**/{ideas,welcome}.md"):
            arguments = {"path": str(folder), "pattern": pattern, "excludePatterns": ["plants.*"]}
            found = [sorted((await call(client, "search_files", **arguments)).split("\n")) for client in (mine, theirs)]
            assert found[0] == found[1], pattern
        for exclude in ([], ["notes"], ["**/*.md"]):
            arguments = {"path": str(folder), "excludePatterns": exclude}
            trees = [json.loads(await call(client, "directory_tree", **arguments)) for client in (mine, theirs)]
            assert by_name(trees[0]) == by_name(trees[1]), exclude


def by_name(nodes: list[dict[str, object]]) -> list[dict[str, object]]:
    for node in nodes:
        if isinstance(children := node.get("children"), list):
            by_name(children)
    nodes.sort(key=lambda node: str(node["name"]))
    return nodes


async def test_a_link_that_leads_out_is_refused_and_the_allowed_folders_are_named(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link").symlink_to(tmp_path)
    async with ours(folder) as client:
        for tool, arguments in {
            "read_file": {"path": "link/secret.txt"},
            "write_file": {"path": "link/new.txt", "content": "x"},
            "create_directory": {"path": "link/new"},
            "list_directory": {"path": "link"},
            "directory_tree": {"path": "link"},
            "search_files": {"path": "link", "pattern": "**"},
            "get_file_info": {"path": "link/secret.txt"},
            "move_file": {"source": "link/secret.txt", "destination": "mine.txt"},
            "edit_file": {"path": "link/secret.txt", "edits": [{"oldText": "secret", "newText": "x"}]},
        }.items():
            text = await refusal(client, tool, **arguments)
            assert "Access denied" in text
            assert str(folder) in text
        assert "Access denied" in await call(client, "read_multiple_files", paths=["link/secret.txt"])
        assert "Access denied" in await refusal(client, "move_file", source="welcome.md", destination="link/w.md")
    assert (tmp_path / "secret.txt").read_text() == "secret"


async def test_a_dry_run_writes_nothing(folder: Path) -> None:
    before = (folder / "plants.csv").read_bytes()
    async with ours(folder) as client:
        edits = [{"oldText": "Basil,Kitchen,2", "newText": "Basil,Kitchen,3"}]
        diff = await call(client, "edit_file", path="plants.csv", edits=edits, dryRun=True)
    assert "-Basil,Kitchen,2,2026-11-27\n+Basil,Kitchen,3,2026-11-27\n" in diff
    assert (folder / "plants.csv").read_bytes() == before


async def test_one_edit_that_is_not_found_changes_nothing(folder: Path) -> None:
    before = (folder / "plants.csv").read_bytes()
    edits = [{"oldText": "Basil", "newText": "Mint"}, {"oldText": "Cactus", "newText": "Fern"}]
    async with ours(folder) as client:
        assert "Cactus" in await refusal(client, "edit_file", path="plants.csv", edits=edits)
    assert (folder / "plants.csv").read_bytes() == before


async def test_a_file_that_cannot_be_read_costs_only_itself(folder: Path) -> None:
    async with ours(folder) as client:
        text = await call(client, "read_multiple_files", paths=["plants.csv", "missing.txt", "notes/ideas.md"])
    assert "plants.csv:\nplant,room" in text
    assert "missing.txt: Error - No such file or directory" in text
    assert "# Ideas" in text


async def test_what_the_system_says_reaches_the_caller_with_the_path(folder: Path) -> None:
    async with ours(folder) as client:
        assert "missing.txt: No such file" in await refusal(client, "read_file", path="missing.txt")
        assert "no/such/f: No such file" in await refusal(client, "write_file", path="no/such/f", content="x")
        assert "head or tail" in await refusal(client, "read_file", path="plants.csv", head=1, tail=1)


async def test_details_of_a_file_are_told(folder: Path) -> None:
    async with ours(folder) as client:
        text = await call(client, "get_file_info", path="plants.csv")
    assert f"size: {(folder / 'plants.csv').stat().st_size}\n" in text
    assert "isFile: true" in text


async def test_a_tree_that_was_cut_says_so_beside_its_json(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_patchbay.builtin.filesystem.listing.LIST_LIMIT", 2)
    async with ours(folder) as client:
        result = await client.call_tool("directory_tree", {"path": str(folder)})
    assert json.loads(result.content[0].text)
    assert result.content[1].text.startswith("[Cut: only the first 2 entries")
