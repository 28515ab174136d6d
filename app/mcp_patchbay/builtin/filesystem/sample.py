"""The folder that the built-in server serves at the first start, so that there is something to try."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

WELCOME = """\
# Welcome to Patchbay

This folder belongs to the built-in server `files`. Its tools can read, search and change what is in here, and nothing
outside.

Try one in the playground:

- `list_directory` shows what is here.
- `read_file` with the path `plants.csv` shows a small table.
- `search_files` with the pattern `**/*.md` finds the notes.
- `edit_file` with `dryRun` shows a change before it is made.

To use a folder of your own, edit the server and add it to its allowed folders.
"""
PLANTS = """\
plant,room,water every (days),last watered
Monstera,Living room,7,2026-11-23
Basil,Kitchen,2,2026-11-27
Snake plant,Hall,21,2026-11-10
Orchid,Bath,10,2026-11-20
"""
IDEAS = """\
# Ideas

- Ask your assistant which plant is thirsty.
- Let it add a plant to the table.
- Give it a folder of notes and ask for a summary.
"""
SHOPPING = """\
# Shopping list

- [ ] Potting soil
- [ ] A pot for the basil
- [x] Watering can
"""
SAMPLE = {
    "welcome.md": WELCOME,
    "plants.csv": PLANTS,
    "notes/ideas.md": IDEAS,
    "notes/shopping-list.md": SHOPPING,
}


def create_sample(folder: Path) -> bool:
    """Make the sample folder, unless there is something of that name. True when it was made.

    Raises:
        OSError: it cannot be written.
    """
    if folder.exists():
        return False
    for name, text in SAMPLE.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    return True
