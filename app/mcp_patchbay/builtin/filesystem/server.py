"""The tools of the filesystem server, named and shaped as those of npm's @modelcontextprotocol/server-filesystem."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar

import anyio.to_thread
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field

from mcp_patchbay import __version__
from mcp_patchbay.builtin.filesystem import files, listing
from mcp_patchbay.builtin.filesystem.edits import edited, unified_diff
from mcp_patchbay.builtin.filesystem.folders import AllowedFolders, FileError, make_folders

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

P = ParamSpec("P")
R = TypeVar("R")

EDIT_LIMIT = 4 * 1024 * 1024
"""Bytes of a file that can be edited."""
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
CREATES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False)

FilePath = Annotated[str, Field(description="Path of the file, in one of the allowed folders")]
FolderPath = Annotated[str, Field(description="Path of the folder, in one of the allowed folders")]
Lines = Annotated[int | None, Field(ge=1)]
Excludes = Annotated[
    list[str],
    Field(
        description="Globs of what to leave out, such as node_modules or **/*.log; matched on the path from the folder"
    ),
]


class TextEdit(BaseModel):
    """One replacement in a file."""

    model_config = ConfigDict(populate_by_name=True)
    old_text: str = Field(alias="oldText", description="Text to search for; its first place is replaced")
    new_text: str = Field(alias="newText", description="Text to put there")


class FilesystemTools:
    """The eleven tools. Every path is resolved against the allowed folders before anything is touched."""

    def __init__(self, allowed: AllowedFolders) -> None:
        self.allowed = allowed

    def read_file(
        self,
        path: FilePath,
        head: Annotated[Lines, Field(description="Only the first so many lines")] = None,
        tail: Annotated[Lines, Field(description="Only the last so many lines")] = None,
    ) -> str:
        """Read a file as text. With head or tail only its first or last lines, which also works for files that are
        too big to be read whole (1 MiB)."""
        if head and tail:
            raise FileError("Give head or tail, not both")
        place = self.allowed.resolve(path)
        if head:
            return files.read_head(place, head)
        return files.read_tail(place, tail) if tail else files.read_text(place)

    def read_multiple_files(
        self, paths: Annotated[list[str], Field(min_length=1, description="Paths of the files to read")]
    ) -> str:
        """Read several files at once, each under its path. A file that cannot be read costs that file only. 1 MiB in
        all."""
        parts: list[str] = []
        left = files.READ_LIMIT
        for number, path in enumerate(paths):
            if left <= 0:
                parts.append(f"[Cut: {len(paths) - number} more files; read them one by one.]")
                break
            try:
                text = files.read_text(self.allowed.resolve(path))
            except (FileError, OSError) as error:
                parts.append(f"{path}: Error - {_reason(error)}")
            else:
                parts.append(f"{path}:\n{text[:left]}\n" + ("\n[Cut]\n" if len(text) > left else ""))
                left -= len(text)
        return "\n---\n".join(parts)

    def write_file(self, path: FilePath, content: Annotated[str, Field(description="The whole new text")]) -> str:
        """Create a file, or replace all of an existing one without asking. Its folder must exist."""
        files.write_text(self.allowed.resolve(path), content)
        return f"Successfully wrote to {path}"

    def edit_file(
        self,
        path: FilePath,
        edits: Annotated[list[TextEdit], Field(min_length=1, description="Replacements, made in this order")],
        dryRun: Annotated[bool, Field(description="Only show what would change")] = False,  # noqa: N803 npm's name
    ) -> str:
        """Replace pieces of a text file and return the change as a unified diff. Lines are found even when their
        indentation differs. With dryRun nothing is written; when one edit is not found, nothing is either."""
        place = self.allowed.resolve(path)
        before = files.read_exactly(place, EDIT_LIMIT)
        after = edited(before, edits)
        diff = unified_diff(before, after, str(place.path))
        if not dryRun and after != before:
            files.write_text(place, after)
        return diff

    def create_directory(self, path: FolderPath) -> str:
        """Create a folder, and those above it that are missing. It is fine when it exists."""
        make_folders(self.allowed.resolve(path))
        return f"Successfully created directory {path}"

    def list_directory(self, path: FolderPath) -> str:
        """List what is in a folder, each entry marked [FILE] or [DIR]."""
        return listing.listing(self.allowed.resolve(path))

    def directory_tree(
        self,
        path: FolderPath,
        excludePatterns: Excludes = [],  # noqa: N803, B006 npm's name; never changed
    ) -> list[str]:
        """Show a folder with all that is below it, as JSON: entries with name, type (file or directory) and, for
        folders, children."""
        tree = listing.Tree(excludePatterns)
        text = json.dumps(tree.build(self.allowed.resolve(path)), indent=2, ensure_ascii=False)
        return [text, tree.cut] if tree.cut else [text]

    def move_file(
        self,
        source: Annotated[str, Field(description="Path of what is to be moved")],
        destination: Annotated[str, Field(description="Its new path, which must not exist")],
    ) -> str:
        """Move or rename a file or folder. Both paths must be in allowed folders; it fails when the destination
        exists."""
        files.move(self.allowed.resolve_entry(source), self.allowed.resolve_entry(destination))
        return f"Successfully moved {source} to {destination}"

    def search_files(
        self,
        path: FolderPath,
        pattern: Annotated[
            str, Field(description="Glob on the path from that folder: *.md for the folder itself, **/*.md for all")
        ],
        excludePatterns: Excludes = [],  # noqa: N803, B006 npm's name; never changed
    ) -> str:
        """Find files and folders below a folder by a glob. Returns their full paths."""
        found = listing.search(self.allowed, self.allowed.resolve(path), pattern, excludePatterns)
        return "\n".join(found) or "No matches found"

    def get_file_info(self, path: Annotated[str, Field(description="Path of a file or folder")]) -> str:
        """Tell size, times, kind and permissions of a file or folder."""
        facts = files.describe(self.allowed.resolve(path))
        return "\n".join(
            f"{key}: {str(value).lower() if isinstance(value, bool) else value}" for key, value in facts.items()
        )

    def list_allowed_directories(self) -> str:
        """List the folders that this server may touch, with all that is below them."""
        return "Allowed directories:\n" + "\n".join(map(str, self.allowed.folders))


def create(options: Mapping[str, Any]) -> MCPServer[Any]:
    """The server for the folders in `options` (`{"allowed_directories": [...]}`).

    Raises:
        ConfigError: the options name no folder, or one that does not exist.
    """
    allowed = AllowedFolders.from_options(options)
    tools = FilesystemTools(allowed)
    server: MCPServer[Any] = MCPServer(
        "filesystem",
        title="Files",
        version=__version__,
        instructions=f"Reads and changes files, only in these folders and below: {allowed}",
    )
    for function, title, hints in (
        (tools.read_file, "Read file", READS),
        (tools.read_multiple_files, "Read several files", READS),
        (tools.write_file, "Write file", WRITES),
        (tools.edit_file, "Edit file", CHANGES),
        (tools.create_directory, "Create folder", CREATES),
        (tools.list_directory, "List folder", READS),
        (tools.directory_tree, "Folder tree", READS),
        (tools.move_file, "Move or rename", CHANGES),
        (tools.search_files, "Find files", READS),
        (tools.get_file_info, "File details", READS),
        (tools.list_allowed_directories, "Allowed folders", READS),
    ):
        server.add_tool(
            _in_thread(function),
            title=title,
            description=" ".join((function.__doc__ or "").split()),
            annotations=hints,
            structured_output=False,
        )
    return server


def _in_thread(function: Callable[P, R]) -> Callable[P, Awaitable[R]]:
    """The tool, run off the loop, with its failures as `ToolError`. A call that is cancelled is not waited for."""

    @functools.wraps(function)
    async def tool(*args: P.args, **kwargs: P.kwargs) -> R:
        work = functools.partial(function, *args, **kwargs)
        try:
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        except FileError as error:
            raise ToolError(str(error)) from error
        except OSError as error:
            paths = [str(kwargs[name]) for name in ("path", "source", "destination") if name in kwargs]
            raise ToolError(f"{' -> '.join(paths)}: {_reason(error)}") from error

    return tool


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
