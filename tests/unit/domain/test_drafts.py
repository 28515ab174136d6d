"""The form of the server editor, without its widgets."""

from dataclasses import replace
from typing import Any

import pytest

from mcp_patchbay.domain.drafts import Draft, Entry, keep_by_default, shown_target
from mcp_patchbay.domain.filters import Filters, Patterns
from mcp_patchbay.domain.placeholders import secret_reference
from mcp_patchbay.domain.servers import BuiltinServer, HttpServer, ServerSpec, StdioServer, parse_server, read_server

ID = "0123456789abcdef0123456789abcdef"
TOKEN = secret_reference(ID, "env.TOKEN")


def command(**changes: Any) -> Draft:
    return replace(Draft.blank("command"), name="a", command="npx", **changes)


def url(**changes: Any) -> Draft:
    return replace(Draft.blank("url"), **{"name": "a", "url": "https://h/mcp", **changes})


def with_token(value: str = TOKEN) -> Draft:
    return Draft.from_spec(ServerSpec("a", StdioServer("x", env={"TOKEN": value, "MODE": "fast"}), id=ID))


def found(draft: Draft, *taken: str) -> list[tuple[str, str, int | None]]:
    return [(problem.field, problem.message.key, problem.row) for problem in draft.problems(taken)]


# --- there and back


@pytest.mark.parametrize(
    "raw",
    [
        {"command": "npx", "args": ["-y", "", "a b"], "env": {"A": "b", "E": ""}, "cwd": "/tmp"},
        {"url": "https://h/mcp", "headers": {"X-Mode": "fast"}},
        {"url": "https://h/sse", "type": "sse"},
        {"builtin": "filesystem", "options": {"allowed_directories": ["/tmp", "/home"], "read_only": True}},
        {"command": "x", "timeout": 0.5, "connect_timeout": 120, "description": "two\nlines", "enabled": False},
        {"command": "x", "filters": {"tools": {"allow": ["a", "b*"]}, "prompts": {"block": ["c"]}}},
        {"command": "x", "unconfirmed": True, "autoApprove": ["t"]},
        {"command": "x", "env": {"TOKEN": "${env:TOKEN}", "T": "Bearer " + TOKEN}},
    ],
)
def test_a_server_that_is_not_changed_stays_as_it_is(raw: dict[str, Any]) -> None:
    spec = parse_server("a", {"id": ID, **raw})
    draft = Draft.from_spec(spec)
    assert draft.problems() == []
    assert draft.to_spec() == (spec, {})
    assert draft == Draft.from_spec(spec)


def test_a_new_server_has_an_id_of_its_own_and_needs_no_confirmation() -> None:
    spec, _ = command().to_spec()
    other, _ = command().to_spec()
    assert spec.id != other.id
    assert not spec.unconfirmed
    assert spec.enabled


def test_blanks_around_single_fields_are_cut_off_and_arguments_stay() -> None:
    draft = command(args=(" a ",), cwd=" /tmp ", description=" d\n")
    spec, _ = replace(draft, name=" a ", command=" npx ").to_spec()
    assert spec.name == "a"
    assert spec.target == StdioServer("npx", (" a ",), {}, "/tmp")
    assert spec.description == "d"


def test_time_limits_left_empty_are_the_default() -> None:
    spec, _ = command(connect_timeout="", timeout=" 90 s").to_spec()
    assert (spec.connect_timeout, spec.timeout) == (None, 90.0)


def test_patterns_are_one_a_line_and_blank_lines_are_none() -> None:
    draft = command(allow_tools="read_*\n\n  list_*  \n", block_prompts="x")
    assert draft.to_spec()[0].filters == Filters(Patterns(("read_*", "list_*")), Patterns(block=("x",)))


def test_a_bad_pattern_is_left_out_of_the_preview() -> None:
    assert command(allow_tools="[a\nread_*").tool_patterns() == Patterns(("read_*",))


def test_rows_that_say_nothing_are_left_out() -> None:
    draft = command(env=(Entry("", ""), Entry("A", "b"), Entry("  ", "")))
    assert draft.problems() == []
    assert draft.to_spec()[0].target == StdioServer("npx", env={"A": "b"})


def test_a_change_of_kind_leaves_what_belongs_to_the_other_kind_behind() -> None:
    draft = replace(with_token(), kind="url", url="https://h")
    spec, secrets = draft.to_spec()
    assert spec.target == HttpServer("https://h")
    assert secrets == {"env.TOKEN": None}


def test_unknown_options_of_a_builtin_stay_and_another_builtin_starts_afresh() -> None:
    spec = ServerSpec("a", BuiltinServer("filesystem", {"allowed_directories": ["/a"], "x": 1}))
    draft = replace(Draft.from_spec(spec), folders=("/b", " "))
    assert draft.to_spec()[0].target == BuiltinServer("filesystem", {"allowed_directories": ["/b"], "x": 1})
    other = replace(draft, builtin="search").to_spec()[0].target
    assert other == BuiltinServer("search", {"allowed_directories": ["/b"]})


# --- secrets


def test_a_secret_in_the_keyring_is_not_read_and_stays() -> None:
    draft = with_token()
    assert draft.env[0] == Entry("TOKEN", "", kept=True, stored=TOKEN)
    assert draft.env[0].unchanged_secret
    assert draft.problems() == []
    spec, secrets = draft.to_spec()
    assert secrets == {}
    assert spec.target == StdioServer("x", env={"TOKEN": TOKEN, "MODE": "fast"})


def test_a_new_secret_goes_to_the_keyring_and_the_file_gets_its_placeholder() -> None:
    draft = command(env=(Entry("API_KEY", " s3cret ", kept=True), Entry("MODE", "fast")))
    spec, secrets = draft.to_spec()
    assert secrets == {"env.API_KEY": " s3cret "}
    assert spec.target == StdioServer("npx", env={"API_KEY": secret_reference(spec.id, "env.API_KEY"), "MODE": "fast"})


def test_a_header_is_trimmed_also_on_its_way_to_the_keyring() -> None:
    _, secrets = url(headers=(Entry("Authorization", "  Bearer x\n", kept=True),)).to_spec()
    assert secrets == {"headers.Authorization": "Bearer x"}


def test_a_replaced_secret_takes_the_place_of_the_old_one() -> None:
    draft = with_token()
    draft = replace(draft, env=(replace(draft.env[0], value="new"), draft.env[1]))
    spec, secrets = draft.to_spec()
    assert secrets == {"env.TOKEN": "new"}
    assert spec.target == draft.base.target


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ((), {}),
        ((Entry("TOKEN", "plain"),), {"TOKEN": "plain"}),
        ((Entry("TOKEN", ""),), {"TOKEN": ""}),
    ],
    ids=["removed", "moved to the file", "emptied"],
)
def test_a_secret_that_is_no_longer_used_leaves_the_keyring(env: tuple[Entry, ...], expected: dict[str, str]) -> None:
    spec, secrets = replace(with_token(), env=env).to_spec()
    assert secrets == {"env.TOKEN": None}
    assert spec.target == StdioServer("x", env=expected)


def test_a_renamed_variable_keeps_its_secret_and_a_new_one_of_the_old_name_gets_its_own() -> None:
    draft = with_token()
    renamed = replace(draft.env[0], name="OLD_TOKEN")
    spec, secrets = replace(draft, env=(renamed, Entry("TOKEN", "new", kept=True))).to_spec()
    assert secrets == {"env.TOKEN-2": "new"}
    assert spec.target == StdioServer("x", env={"OLD_TOKEN": TOKEN, "TOKEN": secret_reference(ID, "env.TOKEN-2")})


def test_a_secret_of_another_server_or_inside_a_text_is_shown_as_it_is_written() -> None:
    for value in (secret_reference("f" * 32, "env.TOKEN"), "Bearer " + TOKEN):
        assert with_token(value).env[0] == Entry("TOKEN", value)


def test_what_was_pasted_has_its_secrets_kept() -> None:
    pasted = {"url": "https://h", "headers": {"Authorization": "Bearer x", "X-Mode": "fast", "X-Token": "${TOKEN}"}}
    draft = Draft.from_spec(parse_server("a", pasted)).with_secrets_kept()
    assert [entry.kept for entry in draft.headers] == [True, False, False]
    spec, secrets = draft.to_spec()
    assert secrets == {"headers.Authorization": "Bearer x"}
    assert "Bearer x" not in str(spec)


@pytest.mark.parametrize(
    ("name", "value", "keep"),
    [
        ("Authorization", "Bearer x", True),
        ("GITHUB_TOKEN", "", True),
        ("GITHUB_TOKEN", "${env:GITHUB_TOKEN}", False),
        ("PGSSLMODE", "require", False),
    ],
)
def test_what_looks_secret_is_kept_by_default(name: str, value: str, keep: bool) -> None:
    assert keep_by_default(name, value) is keep


def test_no_secret_is_in_a_drafts_repr() -> None:
    assert "hunter2" not in repr(command(env=(Entry("A", "hunter2", kept=True),)))


# --- what is wrong


def test_a_name_must_be_there_and_free() -> None:
    assert found(replace(command(), name=" ")) == [("name", "field.name.empty", None)]
    assert found(command(), "b", "a") == [("name", "field.name.taken", None)]
    assert found(command(), "b") == []


def test_a_blank_form_names_what_is_missing() -> None:
    assert [problem.field for problem in Draft.blank("command").problems()] == ["name", "command"]
    assert [problem.field for problem in Draft.blank("url").problems()] == ["name", "url"]
    assert [problem.field for problem in Draft.blank("builtin").problems()] == ["name", "folders"]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"cwd": "x"}, ("cwd", "field.cwd.absolute", None)),
        ({"args": ("a", "b\0")}, ("args", "field.nul", 1)),
        ({"env": (Entry("", "x"),)}, ("env", "field.entry.name", 0)),
        ({"env": (Entry("A=B", "x"),)}, ("env", "field.env.equals", 0)),
        ({"env": (Entry("A", "1"), Entry(" A", "2"))}, ("env", "field.entry.twice", 1)),
        ({"env": (Entry("A", "\0"),)}, ("env", "field.nul", 0)),
        ({"env": (Entry("A", "", kept=True),)}, ("env", "field.entry.value", 0)),
        ({"timeout": "soon"}, ("timeout", "field.seconds", None)),
        ({"connect_timeout": "0"}, ("connect_timeout", "field.seconds", None)),
        ({"allow_tools": "a\n[b"}, ("filters.tools.allow", "field.pattern", 1)),
        ({"block_tools": "{b"}, ("filters.tools.block", "field.pattern", 0)),
        ({"allow_prompts": "(b"}, ("filters.prompts.allow", "field.pattern", 0)),
        ({"block_prompts": "\n\n[b"}, ("filters.prompts.block", "field.pattern", 2)),
    ],
)
def test_a_commands_field_that_is_wrong_is_named(changes: dict[str, Any], problem: tuple[str, str, int | None]) -> None:
    assert found(command(**changes)) == [problem]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"url": "h/mcp"}, ("url", "field.url.scheme", None)),
        ({"headers": (Entry("X Y", "1"),)}, ("headers", "field.header.name", 0)),
        ({"headers": (Entry("X", "1"), Entry("x", "2"))}, ("headers", "field.entry.twice", 1)),
        ({"headers": (Entry("X", " "),)}, ("headers", "field.entry.value", 0)),
        ({"headers": (Entry("X", "a\nb", kept=True),)}, ("headers", "field.header.lines", 0)),
        ({"headers": (Entry("X", "ä"),)}, ("headers", "field.header.ascii", 0)),
    ],
)
def test_a_urls_field_that_is_wrong_is_named(changes: dict[str, Any], problem: tuple[str, str, int | None]) -> None:
    assert found(url(**changes)) == [problem]


def test_variables_differ_by_case_and_headers_do_not() -> None:
    assert found(command(env=(Entry("path", "1"), Entry("PATH", "2")))) == []


def test_a_builtin_needs_folders_with_full_paths() -> None:
    draft = replace(Draft.blank("builtin"), name="a")
    assert found(replace(draft, folders=("/a", "b"))) == [("folders", "field.cwd.absolute", 1)]
    assert found(replace(draft, folders=("/a",), builtin="")) == [("builtin", "field.builtin.empty", None)]


def test_what_belongs_to_another_kind_is_not_checked() -> None:
    assert found(command(url="nonsense", headers=(Entry("X Y", ""),))) == []


def test_no_problem_repeats_a_value() -> None:
    draft = url(url="https://me:hunter2@h", headers=(Entry("X", "hunter2\nä"),))
    assert "hunter2" not in " ".join(str(problem.message) for problem in draft.problems())


# --- entries that cannot be used


def test_an_entry_that_cannot_be_used_can_be_corrected() -> None:
    raw = {"id": ID, "type": "pigeon", "command": "npx", "args": ["-y", 5], "env": {"TOKEN": TOKEN}, "note": "keep"}
    draft = Draft.from_spec(read_server("a", raw))
    assert draft.problems() == []
    spec, secrets = draft.to_spec()
    assert spec.target == StdioServer("npx", ("-y", "5"), {"TOKEN": TOKEN})
    assert (spec.id, spec.enabled, spec.extra, secrets) == (ID, True, {"note": "keep"}, {})


def test_an_entry_that_was_off_by_its_own_words_stays_off_when_corrected() -> None:
    draft = replace(Draft.from_spec(read_server("a", {"comand": "x", "disabled": True})), command="x")
    assert not draft.to_spec()[0].enabled


def test_an_entry_that_is_no_object_starts_blank() -> None:
    assert Draft.from_spec(read_server("a", 5)).command == ""


def test_what_would_be_started_is_shown_exactly() -> None:
    assert shown_target(StdioServer("npx", ("-y", "a b"))) == 'npx -y "a b"'
    assert shown_target(HttpServer("https://h/mcp")) == "https://h/mcp"
