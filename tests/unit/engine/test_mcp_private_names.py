"""The private parts of mcp that we use: a new release of it must not move them unseen."""

from __future__ import annotations

import dataclasses
import inspect
from importlib.metadata import version

import pytest
from mcp import Client
from mcp.client.session import ClientSession
from mcp.os.win32 import utilities
from mcp.server import MCPServer
from mcp.shared import inbound, jsonrpc_dispatcher

from mcp_patchbay.engine.client import PatchbayClient
from mcp_patchbay.engine.session import PatchbaySession


def test_mcp_is_the_release_whose_private_names_we_know():
    assert version("mcp").split(".")[:2] == ["2", "3"]


@pytest.mark.parametrize("name", ["_connect", "_entered", "_session", "_exit_stack"])
def test_the_client_has_the_fields_we_use(name):
    assert name in {field.name for field in dataclasses.fields(Client)}


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("_build_session", ["self", "exit_stack"]),
        ("_drive_input_required", ["self", "first", "retry"]),
    ],
)
def test_the_client_has_the_methods_we_use(name, parameters):
    assert list(inspect.signature(getattr(Client, name)).parameters) == parameters


def test_the_client_connects_through_the_attribute_that_we_replace():
    assert "self._connect(exit_stack, self.mode, self.raise_exceptions)" in inspect.getsource(Client._build_session)


@pytest.mark.parametrize(
    "name",
    [
        *("_stamp", "_dispatcher", "_session_read_timeout_seconds", "_tool_output_schemas"),
        *("_tool_output_validators", "_x_mcp_header_maps"),
    ],
)
def test_the_session_has_the_attributes_we_use(name):
    assert f"self.{name}" in inspect.getsource(ClientSession.__init__)


def test_the_session_has_the_methods_we_use():
    validator = inspect.signature(ClientSession._output_schema_validator)
    assert list(validator.parameters) == ["self", "name", "output_schema"]
    assert list(inspect.signature(ClientSession.send_discover).parameters) == ["self", "version"]
    assert list(inspect.signature(ClientSession._on_request).parameters) == ["self", "dctx", "method", "params"]


async def test_the_session_can_be_given_our_class():
    async with PatchbayClient(MCPServer("any")) as client:
        assert type(client.session) is PatchbaySession
        assert "__dict__" in dir(client.session)


@pytest.mark.parametrize("name", ["find_invalid_x_mcp_header", "x_mcp_header_map"])
def test_the_header_rules_are_where_we_look_for_them(name):
    assert callable(getattr(inbound, name))


@pytest.mark.parametrize(
    "name", ["cancelled_request_id_from_params", "handler_exception_to_error_data", "progress_token_from_params"]
)
def test_the_dispatchers_helpers_are_where_we_look_for_them(name):
    assert callable(getattr(jsonrpc_dispatcher, name))


def test_the_helpers_for_windows_are_where_we_look_for_them():
    assert list(inspect.signature(utilities._create_job_object).parameters) == []
    assert list(inspect.signature(utilities._maybe_assign_process_to_job).parameters) == ["process", "job"]
    assert list(inspect.signature(utilities.terminate_windows_process_tree).parameters) == ["process"]
    assert isinstance(utilities._process_jobs, utilities.weakref.WeakKeyDictionary)
