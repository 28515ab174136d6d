"""The environment of a server's process: the user's own, without what belongs to this app."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mcp_patchbay.engine.spawn.disk import Disk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

OURS = frozenset({"MCP_SERVERS", "QT_API", "DEBUG"})
"""Variables that speak to this app, not to its servers. `MCP_SERVERS` may even hold secrets."""

OF_A_FROZEN_APP = frozenset(
    {"PYTHONHOME", "PYTHONPATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "DYLD_LIBRARY_PATH", "DYLD_FRAMEWORK_PATH"}
    | {"GIO_MODULE_DIR", "GDK_PIXBUF_MODULE_FILE", "GSETTINGS_SCHEMA_DIR", "FONTCONFIG_FILE", "FONTCONFIG_PATH"}
    | {"QML2_IMPORT_PATH", "QML_IMPORT_PATH", "_MEIPASS", "_MEIPASS2", "TCL_LIBRARY", "TK_LIBRARY"}
    | {"APPIMAGE", "APPDIR", "ARGV0", "OWD"}
)
PREFIXES_OF_A_FROZEN_APP = ("QT_", "_PYI_", "PYINSTALLER_")
ORIGINAL = "_ORIG"


def child_environment(
    own: Mapping[str, str],
    folders: Iterable[str],
    *,
    system: str,
    environ: Mapping[str, str],
    bundle: str | None = getattr(sys, "_MEIPASS", None),
) -> dict[str, str]:
    """The environment of a server's process.

    Args:
        own: the server's own variables; they win.
        folders: what its PATH holds, in order.
        system: "win32", "linux" or "darwin"; on Windows names differ in case only once.
        environ: the environment of this app.
        bundle: the folder of the frozen app, None when it runs from sources.
    """
    child = _without_ours(environ, bundle)
    if system == "win32":
        names = {name.upper(): name for name in child}
        for name, value in own.items():
            child.pop(names.get(name.upper(), name), None)
            names[name.upper()] = name
            child[name] = value
        for name in [name for name in child if name.upper() == "PATH"]:
            del child[name]
    else:
        child |= own
    child["PATH"] = Disk(system).separator.join(folders)
    if not any(name.upper() == "PYTHONUTF8" for name in child):
        child["PYTHONUTF8"] = "1"
    return child


def own_path(env: Mapping[str, str], system: str) -> str | None:
    """The PATH among a server's own variables; on Windows in any spelling, and several are joined."""
    if system != "win32":
        return env.get("PATH")
    given = [value for name, value in env.items() if name.upper() == "PATH" and value]
    return ";".join(given) if given else None


def variable(environ: Mapping[str, str], name: str, system: str) -> str:
    """The value of a variable, by Windows' rules on Windows; empty when it is not set."""
    if system != "win32":
        return environ.get(name, "")
    return next((value for key, value in environ.items() if key.upper() == name.upper()), "")


def _without_ours(environ: Mapping[str, str], bundle: str | None) -> dict[str, str]:
    kept = {name: value for name, value in environ.items() if name not in OURS and not name.startswith("PATCHBAY_")}
    if bundle:
        # A frozen app's library and plug-in paths make other programs load its libraries, and crash.
        foreign = [name for name in kept if name in OF_A_FROZEN_APP or name.startswith(PREFIXES_OF_A_FROZEN_APP)]
        for name in foreign:
            del kept[name]
    # PyInstaller keeps the user's own value of a variable that it changed as NAME_ORIG.
    for name in OF_A_FROZEN_APP:
        if (original := kept.pop(name + ORIGINAL, None)) is not None:
            kept[name] = original
    return kept
