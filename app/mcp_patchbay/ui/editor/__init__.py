"""Adding a server and changing one."""

from mcp_patchbay.ui.editor.dialog import ServerEditor
from mcp_patchbay.ui.editor.paste_dialog import PasteDialog, add_by_pasting

__all__ = ["PasteDialog", "ServerEditor", "add_by_pasting"]
