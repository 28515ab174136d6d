"""What environment a server's process gets."""

from __future__ import annotations

from mcp_patchbay.engine.spawn.environment import child_environment

APP = {
    "HOME": "/home/x",
    "LANG": "de_DE.UTF-8",
    "HTTPS_PROXY": "http://proxy:3128",
    "NO_PROXY": "intern",
    "SSL_CERT_FILE": "/etc/ca.pem",
    "TMPDIR": "/tmp",
    "PATH": "/usr/bin",
}


def child(own: dict[str, str], environ: dict[str, str], bundle: str | None = None) -> dict[str, str]:
    return child_environment(own, ["/a", "/b"], system="linux", environ=environ, bundle=bundle)


def test_own_variables_are_added_to_those_of_the_system() -> None:
    assert child({"CASE_FOO": "1"}, APP) == APP | {"CASE_FOO": "1", "PATH": "/a:/b", "PYTHONUTF8": "1"}


def test_own_variables_win() -> None:
    made = child({"LANG": "C", "PYTHONUTF8": "0"}, APP)
    assert (made["LANG"], made["PYTHONUTF8"]) == ("C", "0")


def test_a_choice_of_pythonutf8_made_outside_stays() -> None:
    assert child({}, APP | {"PYTHONUTF8": "0"})["PYTHONUTF8"] == "0"


def test_what_belongs_to_a_frozen_app_is_not_passed_on() -> None:
    frozen = {
        "LD_LIBRARY_PATH": "/opt/patchbay/_internal",
        "LD_LIBRARY_PATH_ORIG": "/users/own",
        "PYTHONHOME": "/opt/patchbay",
        "PYTHONPATH": "/opt/patchbay",
        "QT_PLUGIN_PATH": "/opt/patchbay/qt",
        "QT_QPA_PLATFORM_PLUGIN_PATH": "/opt/patchbay/qt",
        "_MEIPASS2": "/opt/patchbay",
        "_PYI_ARCHIVE_FILE": "/opt/patchbay",
    }
    made = child({}, APP | frozen, bundle="/opt/patchbay")
    assert made == APP | {"PATH": "/a:/b", "PYTHONUTF8": "1", "LD_LIBRARY_PATH": "/users/own"}


def test_from_sources_the_users_own_variables_of_these_names_stay() -> None:
    own = {"PYTHONPATH": "/mine", "LD_LIBRARY_PATH": "/mine", "QT_SCALE_FACTOR": "2", "PS1_ORIG": "$"}
    assert own.items() <= child({}, APP | own).items()


def test_what_speaks_to_this_app_is_not_passed_on() -> None:
    made = child({}, APP | {"MCP_SERVERS": '[{"headers": "secret-123"}]', "PATCHBAY_OWNER": "another", "QT_API": "x"})
    assert not {"MCP_SERVERS", "PATCHBAY_OWNER", "QT_API"} & made.keys()


def test_a_server_may_set_such_a_variable_for_itself() -> None:
    assert child({"MCP_SERVERS": "[]"}, APP)["MCP_SERVERS"] == "[]"
