"""Small servers that each do one thing wrong, or one odd thing right, and how they are started."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mcp_patchbay.engine.stdio.process import Launch

FOLDER = Path(__file__).parent


def launch(case: str, *args: str, **env: str) -> Launch:
    """The command that runs a server of this folder."""
    return Launch((sys.executable, str(FOLDER / f"{case}.py"), *args), {"PATH": os.environ["PATH"], **env})
