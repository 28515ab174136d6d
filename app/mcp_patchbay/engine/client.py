"""The SDK's `Client` on our own stdio, with raw lists and results."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any, Literal, Self, cast

import mcp_types as types
from mcp import Client, MCPError
from mcp.client.subscriptions import SubscriptionLost
from mcp.server import MCPServer, Server
from mcp_types import HEADER_MISMATCH
from pydantic import ValidationError

from mcp_patchbay import __version__
from mcp_patchbay.engine.in_process import TappedDispatcher
from mcp_patchbay.engine.session import Listing, PatchbaySession, Raw, no_answer
from mcp_patchbay.engine.stdio.dispatcher import MAX_MESSAGE, StdioDispatcher
from mcp_patchbay.engine.stdio.process import Hooks, Launch

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from contextlib import AsyncExitStack
    from types import TracebackType

    from mcp.client.session import (
        ClientSession,
        ElicitationFnT,
        IncomingMessage,
        ListRootsFnT,
        LoggingFnT,
        MessageHandlerFnT,
        SamplingFnT,
    )
    from mcp.shared.dispatcher import Dispatcher, ProgressFnT

log = logging.getLogger(__name__)

PROBE_LIMIT = 3.0
"""Seconds that a command may be silent on `server/discover` before it is spoken to with `initialize`."""
READ_TIMEOUT = 60.0
LISTEN_PAUSES = (1.0, 60.0)
"""Seconds, first and longest, before a subscription that ended is opened again."""

Era = Literal["modern", "legacy"]
ListKind = Literal["tools", "prompts", "resources"]

CHANGED: dict[type[Any], ListKind] = {
    types.ToolListChangedNotification: "tools",
    types.PromptListChangedNotification: "prompts",
    types.ResourceListChangedNotification: "resources",
}


class PatchbayClient(Client):
    """`mcp.Client` for all our transports. Used as `async with`, by one task.

    Args:
        server: a `Launch` (our own stdio), a transport (HTTP), or an in-process `MCPServer` or `Server`.
        mode: "auto" probes for the newer protocol era first, "legacy" does not; else a protocol version of the newer.
        restart: whether a process that ends on the probe is started again for the older era.
        hooks: who hears a process's pipes, for `Launch`; of an in-process server the traffic only.
        probe_limit: seconds of silence on the probe after which a command is taken for one of the older era.
        read_timeout: seconds for requests that have no limit of their own.
        on_list_changed: told "tools", "prompts" or "resources" when the server says that its list has changed. For
            servers of the newer era `watch_lists` must run too.
        on_asked: told the method of each request that the server makes, whether it is answered or refused.
        on_process: awaited with each process right after its start, before anything is said to it.
        max_message: bytes of the largest message that is taken from a process.
        logging_callback, message_handler, sampling_callback, elicitation_callback, list_roots_callback: as for
            `mcp.Client`. What is not given is not declared, and a request for it is refused at once.

    Attributes:
        dispatcher: the process and its pipes, for `Launch`, from its start on; also there when connecting failed.
        restarted: whether the process had ended on the probe and was started again for the older era.
    """

    def __init__(
        self,
        server: Any,
        *,
        mode: str = "auto",
        restart: bool = True,
        hooks: Hooks | None = None,
        probe_limit: float = PROBE_LIMIT,
        read_timeout: float = READ_TIMEOUT,
        max_message: int = MAX_MESSAGE,
        on_list_changed: Callable[[ListKind], None] | None = None,
        on_asked: Callable[[str], None] = lambda _method: None,
        on_process: Callable[[StdioDispatcher], Awaitable[None]] | None = None,
        logging_callback: LoggingFnT | None = None,
        message_handler: MessageHandlerFnT | None = None,
        sampling_callback: SamplingFnT | None = None,
        elicitation_callback: ElicitationFnT | None = None,
        list_roots_callback: ListRootsFnT | None = None,
        log_level: types.LoggingLevel | None = "info",
    ) -> None:
        self.dispatcher: StdioDispatcher | None = None
        self.restarted = False
        self._restart = restart
        self._hooks = hooks or Hooks()
        self._max_message = max_message
        self._probe_limit = probe_limit if isinstance(server, Launch) else None
        self._on_list_changed = on_list_changed
        self._on_message = message_handler
        self._on_asked = on_asked
        self._on_process = on_process
        super().__init__(
            server,
            mode=mode,
            read_timeout_seconds=read_timeout,
            logging_callback=logging_callback,
            log_level=log_level if logging_callback is not None else None,
            message_handler=self._hear,
            sampling_callback=sampling_callback,
            elicitation_callback=elicitation_callback,
            list_roots_callback=list_roots_callback,
            client_info=types.Implementation(name="patchbay", title="Patchbay", version=__version__),
        )
        if isinstance(server, Launch):
            self._connect = self._connect_process
        elif isinstance(server, MCPServer | Server):
            self._connect_server = self._connect
            self._connect = self._connect_in_process

    # ---- opening and closing
    async def __aenter__(self) -> Self:
        """Connect.

        Raises:
            MCPError: the server's error, or that it ended or stayed silent.
            OSError, ValueError: the command could not be started.
        """
        try:
            return await self._enter()
        except MCPError as error:
            if not self._ended_on_probe(error):
                raise
        # Some older servers exit on any first message but initialize: start again and speak that.
        self.mode, self.restarted, self._entered = "legacy", True, False
        return await self._enter()

    async def _enter(self) -> Self:
        try:
            await super().__aenter__()
        except BaseExceptionGroup as group:  # the SDK's task groups wrap what the handshake raised
            error = _innermost(group)
        except (ValidationError, RuntimeError) as raised:
            error = raised
        else:
            return self
        if isinstance(error, ValidationError):
            problems = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
            error = MCPError(types.INTERNAL_ERROR, f"The server's answer to the handshake is not valid: {problems}")
        elif type(error) is RuntimeError:  # a protocol version that nobody knows
            error = MCPError(types.INTERNAL_ERROR, str(error))
        raise error from None

    def _ended_on_probe(self, error: MCPError) -> bool:
        closed = error.code == types.CONNECTION_CLOSED and no_answer(error)
        unheard = self.dispatcher is not None and not self.dispatcher.received
        return closed and unheard and self._restart and self.mode == "auto"

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        """Disconnect; a process is ended with its tree. What the body raised comes out as it is.

        A task of the session that fails cancels the body; then its own error comes out.
        """
        try:
            await super().__aexit__(exc_type, exc_val, exc_tb)
        except BaseExceptionGroup as group:
            if exc_val is None or isinstance(exc_val, asyncio.CancelledError):
                raise _innermost(group) from None

    async def _connect_process(self, stack: AsyncExitStack, _mode: str, _raise: bool) -> Dispatcher[Any]:
        launch = cast("Launch", self.server)
        self.dispatcher = await StdioDispatcher.start(launch, self._hooks, self._max_message)
        stack.push_async_callback(self.dispatcher.stop)
        if self._on_process is not None:
            await self._on_process(self.dispatcher)
        return self.dispatcher

    async def _connect_in_process(self, stack: AsyncExitStack, mode: str, raise_exceptions: bool) -> Dispatcher[Any]:
        return TappedDispatcher(await self._connect_server(stack, mode, raise_exceptions), self._hooks.on_traffic)

    async def _build_session(self, exit_stack: AsyncExitStack) -> ClientSession:
        return PatchbaySession.take_over(await super()._build_session(exit_stack), self._probe_limit, self._on_asked)

    # ---- what was agreed on
    @property
    def session(self) -> PatchbaySession:
        return cast("PatchbaySession", super().session)

    @property
    def era(self) -> Era:
        """The protocol era of this connection: "modern" is 2026-07-28 and later."""
        return "modern" if self.session.modern else "legacy"

    @property
    def era_guessed(self) -> bool:
        """Whether the older era was only guessed from the server's silence: it may be slow and know the newer."""
        return not self.session.modern and self.session.probe_timed_out

    # ---- lists
    async def list_all_tools_raw(self) -> Listing:
        """See `PatchbaySession`; so for the three that follow."""
        return await self.session.list_all_tools_raw()

    async def list_all_prompts_raw(self) -> Listing:
        return await self.session.list_all_prompts_raw()

    async def list_all_resources_raw(self) -> Listing:
        return await self.session.list_all_resources_raw()

    async def list_all_resource_templates_raw(self) -> Listing:
        return await self.session.list_all_resource_templates_raw()

    async def _hear(self, message: IncomingMessage) -> None:
        kind = CHANGED.get(type(message))
        if kind is not None and self._on_list_changed is not None:
            self._on_list_changed(kind)
        if self._on_message is not None:
            await self._on_message(message)

    async def watch_lists(self) -> None:
        """Keep the subscription open without which servers of the newer era do not tell of changed lists.

        For the connection's owner to run as a task beside its work. Ends by itself where there is nothing to watch or
        the server does not serve it; else it runs until it is cancelled or the connection ends. What was missed
        between two subscriptions is made up for by telling `on_list_changed` of every kind.
        """
        kinds = self._announced_kinds()
        pause, longest = LISTEN_PAUSES
        missed = False
        while self.session.modern and kinds:
            try:
                async with self.listen(
                    tools_list_changed="tools" in kinds,
                    prompts_list_changed="prompts" in kinds,
                    resources_list_changed="resources" in kinds,
                ) as changes:
                    if missed and self._on_list_changed is not None:
                        for kind in kinds:
                            self._on_list_changed(kind)
                    async for _ in changes:  # each also comes as a notification, to `_hear`
                        pause = LISTEN_PAUSES[0]
            except (SubscriptionLost, TimeoutError) as error:
                log.debug("the subscription to list changes ended: %s", error)
            except MCPError as error:
                log.debug("the server does not serve a subscription to list changes: %s", error)
                return
            missed = True
            await asyncio.sleep(pause)
            pause = min(2 * pause, longest)

    def _announced_kinds(self) -> list[ListKind]:
        offered = self.server_capabilities
        kinds: list[ListKind] = []
        if offered.tools is not None and offered.tools.list_changed:
            kinds.append("tools")
        if offered.prompts is not None and offered.prompts.list_changed:
            kinds.append("prompts")
        if offered.resources is not None and offered.resources.list_changed:
            kinds.append("resources")
        return kinds

    # ---- calls
    async def call_tool_raw(
        self,
        name: str,
        arguments: Mapping[str, Any] | None,
        *,
        timeout: float | None = None,
        on_progress: ProgressFnT | None = None,
    ) -> tuple[Raw, list[str]]:
        """Call a tool and answer what it asks for on the way.

        Args:
            name: the tool.
            arguments: sent as they are, nulls too; None sends none.
            timeout: seconds for each round, renewed by progress; None means `read_timeout`.
            on_progress: called with progress, total and message.

        Returns:
            The result as the server sent it, and what is odd about it; a broken outputSchema is only a warning.

        Raises:
            MCPError: the server's error, no answer, or a question to which nobody gives an answer.
        """
        params: Raw = {"name": name} if arguments is None else {"name": name, "arguments": dict(arguments)}
        # A token is always sent: a server that reports progress keeps its call alive, whether anyone looks or not.
        listener = on_progress or _unheard
        try:
            result = await self._request_with_input("tools/call", params, timeout, listener)
        except MCPError as error:
            if error.code != HEADER_MISMATCH or not self.session.modern:
                raise
            # The specification's remedy: the tool's schema has changed since it was listed, so list and send again.
            await self.list_all_tools_raw()
            result = await self._request_with_input("tools/call", params, timeout, listener)
        return result, self.session.result_warnings(name, result)

    async def get_prompt_raw(
        self, name: str, arguments: Mapping[str, str] | None = None, *, timeout: float | None = None
    ) -> Raw:
        """Get a prompt, as the server sent it. Errors as for `call_tool_raw`."""
        params: Raw = {"name": name} if arguments is None else {"name": name, "arguments": dict(arguments)}
        return await self._request_with_input("prompts/get", params, timeout)

    async def read_resource_raw(self, uri: str, *, timeout: float | None = None) -> Raw:
        """Read a resource, as the server sent it. Errors as for `call_tool_raw`."""
        return await self._request_with_input("resources/read", {"uri": uri}, timeout)

    async def complete_raw(
        self, reference: Mapping[str, Any], argument: str, value: str, *, timeout: float | None = None
    ) -> Raw:
        """How an argument of a prompt or resource template might go on, as the server sent it.

        `reference` is MCP's: `{"type": "ref/prompt", "name": ...}` or `{"type": "ref/resource", "uri": ...}`.
        """
        params = {"ref": dict(reference), "argument": {"name": argument, "value": value}}
        return await self.session.request_raw("completion/complete", params, timeout=timeout)

    async def _request_with_input(
        self, method: str, params: Raw, timeout: float | None, on_progress: ProgressFnT | None = None
    ) -> Raw:
        """A request that may need rounds of input (2026-07-28), which the SDK's driver drives."""

        async def send(responses: types.InputResponses | None, state: str | None) -> Raw | types.InputRequiredResult:
            answered = dict(params)
            if responses is not None:
                answered["inputResponses"] = {
                    key: response.model_dump(by_alias=True, mode="json", exclude_none=True)
                    for key, response in responses.items()
                }
            if state is not None:
                answered["requestState"] = state
            result = await self.session.request_raw(method, answered, timeout=timeout, on_progress=on_progress)
            if self.session.modern and result.get("resultType") == "input_required":
                return types.InputRequiredResult.model_validate(result, by_name=False)
            return result

        retry: Callable[..., Awaitable[Raw | types.InputRequiredResult]] = send
        try:
            return await self._drive_input_required(await send(None, None), retry)
        except BaseExceptionGroup as group:  # what a callback raised
            raise _innermost(group) from None


async def ping(client: PatchbayClient, timeout: float) -> float:
    """Ask for a sign of life, in the way of the connection's era; an error answer proves life too.

    Returns:
        Seconds until the answer.

    Raises:
        MCPError: no answer within `timeout` seconds, or the connection has ended.
    """
    began = time.monotonic()
    try:
        await client.session.request_raw("server/discover" if client.session.modern else "ping", timeout=timeout)
    except MCPError as error:
        if no_answer(error):
            raise
    return time.monotonic() - began


async def _unheard(progress: float, total: float | None, message: str | None) -> None:
    """Nobody looks at the progress."""


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
