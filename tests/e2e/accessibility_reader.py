#!/usr/bin/python3
"""What a screen reader sees of one program, as a process of its own: the system's Python has the AT-SPI bindings.

    accessibility_reader.py PID

Reads one JSON array a line, [command, arguments...], and answers each with one line of JSON:
["seen"] every object in sight; ["rows", TABLE] the cells of a table; ["do", NAME, ROLE] presses it; ["focus", ...].
"""

from __future__ import annotations

import json
import sys

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402 - the versions must be named first

CALL_LIMIT = 2000  # milliseconds for one call to the program
MOST_OBJECTS = 4000
TABLES = (Atspi.Role.TABLE, Atspi.Role.TREE_TABLE, Atspi.Role.TREE, Atspi.Role.LIST)


def program(pid: int) -> Atspi.Accessible:
    """The program's root; LookupError when it is not on the bus."""
    desktop = Atspi.get_desktop(0)
    desktop.clear_cache()
    for place in range(desktop.get_child_count()):
        found = desktop.get_child_at_index(place)
        # Qt's desktop theme may bring GTK along, which puts a second, empty program on the bus.
        if found is not None and found.get_process_id() == pid and found.get_toolkit_name() == "Qt":
            found.set_cache_mask(Atspi.Cache.NONE)  # events that would renew a cache are not read here
            return found
    raise LookupError(f"process {pid} is not on the accessibility bus")


def children(accessible: Atspi.Accessible) -> list[Atspi.Accessible]:
    """An object's children, without those that went away meanwhile."""
    found = (accessible.get_child_at_index(place) for place in range(accessible.get_child_count()))
    return [child for child in found if child is not None]


def in_sight(accessible: Atspi.Accessible) -> bool:
    states = accessible.get_state_set()
    return states.contains(Atspi.StateType.SHOWING) and states.contains(Atspi.StateType.VISIBLE)


def walk(root: Atspi.Accessible) -> list[Atspi.Accessible]:
    """Everything in sight, windows first, tables without their cells."""
    found, waiting = [], children(root)[::-1]
    while waiting and len(found) < MOST_OBJECTS:
        accessible = waiting.pop()
        try:
            if not in_sight(accessible):
                continue
            found.append(accessible)
            if accessible.get_role() not in TABLES:
                waiting += children(accessible)[::-1]
        except GLib.Error:  # it went away while we looked
            continue
    return found


def described(accessible: Atspi.Accessible) -> dict:
    """What there is to know of an object. `box` is x, y, width and height on the screen."""
    states = accessible.get_state_set()
    box = accessible.get_extents(Atspi.CoordType.SCREEN)
    text, value = accessible.get_text_iface(), accessible.get_value_iface()
    return {
        "name": accessible.get_name(),
        "role": accessible.get_role_name(),
        "text": Atspi.Text.get_text(text, 0, -1) if text is not None else "",
        "value": Atspi.Value.get_current_value(value) if value is not None else 0.0,
        "box": [box.x, box.y, box.width, box.height],
        "enabled": states.contains(Atspi.StateType.SENSITIVE),
        "focused": states.contains(Atspi.StateType.FOCUSED),
        "checked": states.contains(Atspi.StateType.CHECKED),
        "selected": states.contains(Atspi.StateType.SELECTED),
    }


def seen(root: Atspi.Accessible) -> list[dict]:
    found = []
    for accessible in walk(root):
        try:
            found.append(described(accessible))
        except GLib.Error:
            continue
    return found


def find(root: Atspi.Accessible, name: str, role: str) -> Atspi.Accessible:
    """The last object in sight of that name and role ("" is any): a dialog's rather than its window's."""
    fitting = [a for a in walk(root) if a.get_name() == name and role in ("", a.get_role_name())]
    if not fitting:
        raise LookupError(f"there is no {role or 'object'} {name!r} in sight")
    return fitting[-1]


def rows(root: Atspi.Accessible, name: str) -> list[list[dict]]:
    """The cells of the table or tree of that name, row by row, as far as they are in the view."""
    table = next((a for a in walk(root) if a.get_name() == name and a.get_role() in TABLES), None)
    if table is None:
        raise LookupError(f"there is no table {name!r} in sight")
    cells = table.get_table_iface()
    count, columns = Atspi.Table.get_n_rows(cells), Atspi.Table.get_n_columns(cells)
    return [
        [described(cell) for column in range(columns) if (cell := Atspi.Table.get_accessible_at(cells, row, column))]
        for row in range(count)
    ]


def do(root: Atspi.Accessible, name: str, role: str) -> str:
    """Do the object's first action, such as a button's press; says which that was."""
    action = find(root, name, role).get_action_iface()
    if action is None:
        raise LookupError(f"{name!r} can do nothing")
    said = Atspi.Action.get_action_name(action, 0)
    Atspi.Action.do_action(action, 0)
    return said


def focus(root: Atspi.Accessible, name: str, role: str) -> bool:
    return find(root, name, role).get_component_iface().grab_focus()


COMMANDS = {"seen": seen, "rows": rows, "do": do, "focus": focus}


def main() -> None:
    pid = int(sys.argv[1])
    Atspi.set_timeout(CALL_LIMIT, CALL_LIMIT)
    for line in sys.stdin:
        command, *arguments = json.loads(line)
        try:
            answer = {"answer": COMMANDS[command](program(pid), *arguments)}
        except (LookupError, GLib.Error) as error:
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
