"""What a person does to servers in the window: the workspace does it, and the notice bar tells what came of it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from mcp_patchbay.domain.filters import Filters, Patterns
from mcp_patchbay.domain.servers import BuiltinServer, ServerSpec
from mcp_patchbay.ui.texts import error_text
from mcp_patchbay.ui.window_tasks import WindowTasks

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from mcp_patchbay.ui.notice_bar import NoticeBar
    from mcp_patchbay.ui.workspace import Workspace

LARGEST_IMPORT = 4 * 2**20
READ_ONLY = Patterns(block=("write_*", "edit_*", "create_*", "move_*"))


class Deeds(QObject):
    """Each method starts the work and returns at once; what fails is said in the notice bar."""

    done = Signal()
    """Something was done; buttons may have to change."""
    selection_wanted = Signal(list)
    """The names of the servers that something was done to, and that may be looked for now."""
    text_read = Signal(str)
    """The text of a file that `import_file` read."""

    def __init__(self, workspace: Workspace, notice: NoticeBar, parent: QObject) -> None:
        super().__init__(parent)
        self._workspace, self._notice = workspace, notice
        self.tasks = WindowTasks(self.show_error)

    def run(self, work: Coroutine[Any, Any, object], name: str) -> None:
        """Start any other work whose failure is to be said."""
        self.tasks.start(self._until_done(work), name)

    def show_error(self, error: BaseException) -> None:
        """Say calmly what did not work."""
        self._notice.say(error_text(error), "error")

    def start(self, names: Sequence[str]) -> None:
        """Start servers, or try again at once."""
        self.run(self._workspace.start(names), "start")

    def stop(self, names: Sequence[str]) -> None:
        """Stop servers for this run."""
        self.run(self._workspace.stop(names), "stop")

    def restart(self, names: Sequence[str]) -> None:
        """Stop servers and start them again."""
        self.run(self._workspace.restart(names), "restart")

    def switch(self, names: Sequence[str], on: bool) -> None:
        """Switch servers on or off, for good."""
        self.run(self._workspace.set_enabled(names, on), "switch")

    def delete(self, names: Sequence[str]) -> None:
        """Delete servers, and offer to bring them back."""
        self.run(self._delete(names), "delete")

    def undo(self) -> None:
        """Take back the last deletion or edit."""
        self.run(self._undo(), "undo")

    def duplicate(self, name: str) -> None:
        """Make a copy of a server."""
        self.run(self._select_after(self._workspace.duplicate(name)), "duplicate")

    def change_filters(self, name: str, kind: str, patterns: Patterns) -> None:
        """Give a server other filters for its "tools" or "prompts"."""
        self.run(self._change_filters(name, kind, patterns), "filters")

    def add_folder(self, folder: str) -> None:
        """Add a built-in file server on a folder, which may only read until its filters are changed."""
        self.run(self._select_after(self._add_folder(folder)), "add a folder")

    def toggle_pause(self) -> None:
        """Stop every server for now, or start those again."""
        resume = self._workspace.paused
        self.run(self._workspace.resume() if resume else self._workspace.pause_all(), "pause")

    def import_file(self, path: Path) -> None:
        """Read a file that may hold servers."""
        self.run(self._import_file(path), "import")

    def tell_problem(self, error: BaseException) -> None:
        """Say that servers.json cannot be used, and offer the last good one if there is one."""
        self.run(self._tell_problem(error), "tell a problem")

    async def _until_done(self, work: Coroutine[Any, Any, object]) -> None:
        try:
            await work
        finally:
            self.done.emit()

    async def _select_after(self, work: Coroutine[Any, Any, str]) -> None:
        self.selection_wanted.emit([await work])

    async def _delete(self, names: Sequence[str]) -> None:
        await self._workspace.delete(names)
        what = names[0] if len(names) == 1 else self.tr("{0} servers").format(len(names))
        self._notice.say(self.tr("Deleted {0}.").format(what), "done", self.tr("Undo"), self.undo)

    async def _undo(self) -> None:
        step = self._workspace.undo_step
        if step is not None:
            await self._workspace.undo()
            self._notice.clear()
            self.selection_wanted.emit(list(step.names))

    async def _change_filters(self, name: str, kind: str, patterns: Patterns) -> None:
        spec = self._workspace.get(name)
        if spec is not None:
            tools = patterns if kind == "tools" else spec.filters.tools
            prompts = patterns if kind == "prompts" else spec.filters.prompts
            await self._workspace.update(name, replace(spec, filters=Filters(tools, prompts)))

    async def _add_folder(self, folder: str) -> str:
        target = BuiltinServer("filesystem", {"allowed_directories": [folder]})
        name = free_name(Path(folder).name or "files", lambda taken: self._workspace.get(taken) is not None)
        await self._workspace.add(ServerSpec(name, target, filters=Filters(tools=READ_ONLY)))
        return name

    async def _tell_problem(self, error: BaseException) -> None:
        file = self._workspace.file
        if file.read_only or not await asyncio.to_thread(file.has_last_good):
            self.show_error(error)
            return

        def restore() -> None:
            self.run(self._workspace.restore_last_good(), "restore")

        self._notice.say(error_text(error), "error", self.tr("Restore the last good one"), restore)

    async def _import_file(self, path: Path) -> None:
        def read() -> str:
            if path.stat().st_size > LARGEST_IMPORT:
                raise ValueError(self.tr("{0} is too large for a list of servers.").format(path.name))
            return path.read_text("utf-8-sig")

        self.text_read.emit(await asyncio.to_thread(read))


def free_name(base: str, is_taken: Callable[[str], bool]) -> str:
    """`base`, or with the first number behind it that is not taken."""
    name, number = base, 1
    while is_taken(name):
        number += 1
        name = f"{base} {number}"
    return name


def looks_like_json(text: str) -> bool:
    """Whether a text may be a list of servers."""
    if len(text) > LARGEST_IMPORT or not text.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
