"""Messages are English templates by key."""

import ast
import string
from pathlib import Path

import pytest

import mcp_patchbay
from mcp_patchbay.domain.errors import ConfigError, PatchbayError, field_error
from mcp_patchbay.domain.messages import TEMPLATES, Message, message, plain

PACKAGE = Path(mcp_patchbay.__file__).parent


def test_a_message_fills_its_template() -> None:
    assert str(message("error.exists", name="a")) == "Server with name a already exists"
    assert str(plain("{raw} words")) == "{raw} words"
    assert message("error.exists", name="a") == Message("error.exists", {"name": "a"})


def test_a_message_may_hold_another() -> None:
    assert str(message("field.pattern", pattern="[a", reason=message("glob.bracket"))) == "[a: a bracket is not closed"


@pytest.mark.parametrize("key", TEMPLATES)
def test_a_template_can_be_filled(key: str) -> None:
    names = [name for _, name, _, _ in string.Formatter().parse(TEMPLATES[key]) if name is not None]
    assert all(name.isidentifier() for name in names)


def messages_made(tree: ast.AST) -> list[tuple[str, set[str]]]:
    """Key and argument names of every `message("literal", name=...)` in a module."""
    return [
        (node.args[0].value, {keyword.arg for keyword in node.keywords if keyword.arg})
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") in ("message", "_refusal")
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
        and not any(keyword.arg is None for keyword in node.keywords)
    ]


@pytest.mark.parametrize("module", sorted((PACKAGE / "domain").glob("*.py")), ids=lambda path: path.stem)
def test_every_message_of_the_domain_has_a_template_for_its_arguments(module: Path) -> None:
    for key, arguments in messages_made(ast.parse(module.read_text("utf-8"))):
        assert key in TEMPLATES, f"{module.name} uses the unknown key {key}"
        wanted = {name for _, name, _, _ in string.Formatter().parse(TEMPLATES[key]) if name}
        assert wanted <= arguments, f"{module.name}: {key} needs {wanted - arguments}"


def test_an_error_reads_as_what_happened_and_names_its_field() -> None:
    error = field_error("timeout", "must be a number of seconds above 0")
    assert isinstance(error, PatchbayError)
    assert isinstance(error, ConfigError)
    assert (str(error), error.field) == ("timeout: must be a number of seconds above 0", "timeout")
    assert str(error.title)
    assert str(error.hint)
