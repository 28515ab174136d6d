"""The client half of a session that hands out what the server said, as it said it."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, cast

from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import find_invalid_x_mcp_header, x_mcp_header_map
from mcp_types import CONNECTION_CLOSED, METHOD_NOT_FOUND, REQUEST_TIMEOUT
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mcp_patchbay.engine.stdio.dispatcher import StdioDispatcher
from mcp_patchbay.engine.stdio.pending import Deadlines, Pending

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcp.shared.dispatcher import CallOptions, DispatchContext, ProgressFnT
    from mcp.shared.transport_context import TransportContext

MAX_PAGES = 1000
Raw = dict[str, Any]
Listing = tuple[list[Raw], list[str]]
"""The entries that can be used, unaltered, and notes on what was odd, in plain words."""


class PatchbaySession(ClientSession):
    """`ClientSession` with raw, tolerant lists and requests.

    The SDK validates a whole list at once, so one odd tool costs all of them. Here every entry stands for itself, and
    what the SDK derives from a list (output schemas, header maps) is kept up from the raw entries.

    It is never constructed: `take_over` makes one of the session that the SDK has built.

    Attributes:
        probe_timed_out: whether the server was silent on the probe, so that taking it for one of the older era was a
            guess.
    """

    probe_timed_out: bool
    _probe_limit: float | None
    _calls: dict[object, Pending]
    _deadlines: Deadlines
    _on_asked: Callable[[str], None]

    @classmethod
    def take_over(
        cls, session: ClientSession, probe_limit: float | None, on_asked: Callable[[str], None]
    ) -> PatchbaySession:
        """Give our class to a session that was not entered yet: the same state and more methods.

        `probe_limit` is how many seconds a server may be silent on `server/discover`; None leaves it to the SDK (10 s).
        `on_asked` hears the method of each request of the server.
        """
        session.__class__ = cls
        ours = cast("PatchbaySession", session)
        ours.probe_timed_out, ours._probe_limit, ours._calls = False, probe_limit, {}
        ours._on_asked = on_asked
        ours._deadlines = Deadlines(asyncio.get_running_loop(), ours._calls)
        return ours

    @property
    def modern(self) -> bool:
        """Whether the session speaks 2026-07-28 or later."""
        return self.protocol_version in MODERN_PROTOCOL_VERSIONS

    async def send_discover(self, version: str) -> Raw:
        """The SDK's probe, under our limit."""
        try:
            async with asyncio.timeout(self._probe_limit):
                return await super().send_discover(version)
        except TimeoutError:
            self.probe_timed_out = True
            raise MCPError(REQUEST_TIMEOUT, f"No answer to server/discover within {self._probe_limit} s") from None
        except MCPError as error:
            self.probe_timed_out |= error.code == REQUEST_TIMEOUT and no_answer(error)
            raise

    async def request_raw(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        on_progress: ProgressFnT | None = None,
    ) -> Raw:
        """Send a request with the stamps of its era, and return the result as it came.

        `timeout` is in seconds; None means the session's read timeout. Progress that someone listens to renews it.

        Raises:
            MCPError: the server's error, or that there was none (see `no_answer`).
        """
        data: Raw = {"method": method, "params": dict(params or {})}
        options: CallOptions = {}
        self._stamp(data, options)
        limit = self._session_read_timeout_seconds if timeout is None else timeout
        if on_progress is not None:
            options["on_progress"] = on_progress
            if limit is not None and not isinstance(self._dispatcher, StdioDispatcher):
                return await self._send_within(limit, method, data["params"], options, on_progress)
        if limit is not None:
            options["timeout"] = limit
        return await self._dispatcher.send_raw_request(method, data["params"], options)

    async def _send_within(
        self, limit: float, method: str, params: Raw, options: CallOptions, on_progress: ProgressFnT
    ) -> Raw:
        """What our stdio does by itself, for the SDK's dispatchers: a limit that progress renews and questions hold."""
        call = Pending(asyncio.get_running_loop().create_future(), method)

        async def on_renewing_progress(progress: float, total: float | None, message: str | None) -> None:
            self._deadlines.renew(call)
            await on_progress(progress, total, message)

        def expire(_: object) -> None:
            clock.reschedule(0)

        options["on_progress"] = on_renewing_progress
        self._calls[call] = call
        self._deadlines.watch(call, limit)
        try:
            async with asyncio.timeout(None) as clock:
                call.future.add_done_callback(expire)
                return await self._dispatcher.send_raw_request(method, params, options)
        except TimeoutError:
            if call.future.done():
                call.future.result()  # raises what `Deadlines` put there
            raise
        finally:
            del self._calls[call]
            call.future.remove_done_callback(expire)
            call.future.cancel()

    async def _on_request(
        self, dctx: DispatchContext[TransportContext], method: str, params: Mapping[str, Any] | None
    ) -> Raw:
        """The SDK's answering of the server's questions; meanwhile the clock of our calls stands still."""
        self._on_asked(method)
        release = self._deadlines.hold()
        try:
            return await super()._on_request(dctx, method, params)
        finally:
            release()

    # ---- lists
    async def list_all_tools_raw(self) -> Listing:
        """All tools of all pages. One with an odd schema is kept, with a note; one without a name is left out.

        Left out too, as 2026-07-28 demands it, is a tool of that era with an invalid x-mcp-header.

        Raises:
            MCPError: the server's error, or no answer. "Method not found" is an empty list.
        """
        entries, notes = await self._all_pages("tools/list", "tools", "name", forgiven=(METHOD_NOT_FOUND,))
        tools, headers = [], {}
        for tool in entries:
            name = tool["name"]
            schema = tool.get("inputSchema")
            if not isinstance(schema, dict):
                notes.append(f"The tool {name!r} has an inputSchema that is not an object")
            elif self.modern:
                problem, headers[name] = _header_map(schema)
                if problem:
                    notes.append(f"The tool {name!r} was left out: {problem}")
                    continue
            tools.append(tool)
        self._keep_derived_state({tool["name"]: tool.get("outputSchema") for tool in tools}, headers)
        return tools, notes

    async def list_all_prompts_raw(self) -> Listing:
        """All prompts of all pages; empty when the server declares none, empty with a note when it fails to list them.

        Raises:
            MCPError: no answer came.
        """
        capabilities = self.server_capabilities
        if capabilities is None or capabilities.prompts is None:
            return [], []
        return await self._all_pages("prompts/list", "prompts", "name")

    async def list_all_resources_raw(self) -> Listing:
        """All resources of all pages; empty and errors as for prompts."""
        if not self._has_resources:
            return [], []
        return await self._all_pages("resources/list", "resources", "uri")

    async def list_all_resource_templates_raw(self) -> Listing:
        """All resource templates of all pages; empty and errors as for prompts."""
        if not self._has_resources:
            return [], []
        return await self._all_pages("resources/templates/list", "resourceTemplates", "uriTemplate")

    @property
    def _has_resources(self) -> bool:
        capabilities = self.server_capabilities
        return capabilities is not None and capabilities.resources is not None

    async def _all_pages(
        self, method: str, key: str, name_key: str, forgiven: tuple[int, ...] | None = None
    ) -> Listing:
        """Follow the cursors. `forgiven` are the error codes that mean an empty list; None means every answer."""
        try:
            return await self._follow_cursors(method, key, name_key)
        except MCPError as error:
            if no_answer(error) or (forgiven is not None and error.code not in forgiven):
                raise
            return [], [f"{method} was answered with an error: {error.message} (code {error.code})"]

    async def _follow_cursors(self, method: str, key: str, name_key: str) -> Listing:
        entries: list[Raw] = []
        notes: list[str] = []
        seen: set[str] = set()
        cursors: set[str] = set()
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            result = await self.request_raw(method, {} if cursor is None else {"cursor": cursor})
            page = result.get(key)
            if not isinstance(page, list):
                notes.append(f"{method}: {key!r} is not a list")
                return entries, notes
            fresh = [entry for entry in page if not _known(_identity(entry, name_key), seen)]
            good, odd = _sorted_out(fresh, name_key)
            entries += good
            notes += [f"{method}: {problem}" for problem in odd]
            cursor = result.get("nextCursor")
            if not isinstance(cursor, str) or not cursor:
                if len(fresh) < len(page):
                    notes.append(f"{method}: {len(page) - len(fresh)} entries were listed twice")
                return entries, notes
            if cursor in cursors or not fresh:
                notes.append(f"{method}: the pages do not end; stopped at cursor {cursor[:80]!r}")
                return entries, notes
            cursors.add(cursor)
        notes.append(f"{method}: stopped after {MAX_PAGES} pages")
        return entries, notes

    def _keep_derived_state(self, schemas: dict[str, Any], headers: dict[str, dict[tuple[str, ...], str]]) -> None:
        """What the SDK keeps of a complete list: output schemas, their compiled validators, header maps."""
        known = {name: schema if isinstance(schema, dict) else None for name, schema in schemas.items()}
        for name in list(self._tool_output_validators):  # a compiled validator lives as long as its schema
            if name not in known or not _same(self._tool_output_schemas.get(name), known[name]):
                del self._tool_output_validators[name]
        self._tool_output_schemas = known
        self._x_mcp_header_maps = {name: headers[name] for name in known if name in headers}

    # ---- results
    def result_warnings(self, tool: str, result: Mapping[str, Any]) -> list[str]:
        """What is odd about a tool's result: not of the form that MCP asks for, or against the tool's outputSchema.

        Asks the server nothing: a tool that was never listed has no known schema.
        """
        if result.get("isError") is True:
            return []
        warnings = []
        if not isinstance(result.get("content"), list):
            warnings.append("The result has no list of content")
        if (schema := self._tool_output_schemas.get(tool)) is not None:
            if "structuredContent" not in result:
                warnings.append("The tool declares an outputSchema, but its result has no structuredContent")
            elif problem := self._mismatch(tool, schema, result["structuredContent"]):
                warnings.append(f"The result does not match the tool's outputSchema: {problem}")
        return warnings

    def _mismatch(self, tool: str, schema: Raw, value: Any) -> str:
        from jsonschema.exceptions import best_match

        try:
            error = best_match(self._output_schema_validator(tool, schema).iter_errors(value))
        except Exception as problem:  # a schema of the server's making may fail in any way
            return f"the schema cannot be used: {problem}"
        return "" if error is None else f"{error.message} (at {error.json_path})"


def no_answer(error: MCPError) -> bool:
    """Whether the error is not the server's answer but the lack of one: the limit ran out or the connection ended.

    Servers use the same codes for errors of their own, so the words count too.
    """
    if error.code == CONNECTION_CLOSED:
        return error.message.startswith("Connection closed")
    return error.code == REQUEST_TIMEOUT and "timed out" in error.message.lower()


def _identity(entry: Any, name_key: str) -> str:
    """What tells an entry from others, so that a repeated page is seen."""
    name = entry.get(name_key) if isinstance(entry, dict) else None
    return name if isinstance(name, str) and name else "\0" + json.dumps(entry, sort_keys=True, default=str)


def _known(identity: str, seen: set[str]) -> bool:
    if identity in seen:
        return True
    seen.add(identity)
    return False


def _sorted_out(entries: list[Any], name_key: str) -> Listing:
    good, problems = [], []
    for entry in entries:
        if not isinstance(entry, dict):
            problems.append("an entry that is not an object was left out")
        elif not isinstance(name := entry.get(name_key), str) or not name:
            problems.append(f"an entry without {name_key} was left out")
        else:
            good.append(entry)
    return good, problems


def _header_map(schema: Raw) -> tuple[str, dict[tuple[str, ...], str]]:
    """Why the schema's x-mcp-header marks are invalid (2026-07-28 wants such a tool left out), and what they say."""
    try:
        if (reason := find_invalid_x_mcp_header(schema)) is not None:
            return f"invalid x-mcp-header ({reason})", {}
        return "", x_mcp_header_map(schema)
    except Exception:  # a schema of the server's making may fail in any way; then it holds no marks to be read
        return "", {}


def _same(a: Raw | None, b: Raw | None) -> bool:
    """Equality as JSON has it, where true is not 1."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)
