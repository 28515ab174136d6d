"""An app that starts a server, writes it down and crashes: `crashing_app.py LEDGER [stay]`. Prints the server's pid.

The server ignores SIGTERM and has a child of its own. With `stay` the app lives on until its stdin is closed.
"""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

from mcp_patchbay.engine import orphans

SERVER = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(subprocess.Popen(["sleep", "600"]).pid, flush=True)
time.sleep(600)
"""


class Ledger:
    """`domain.ports.Memory` in a file, written at once."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self.facts = json.loads(self.path.read_text()) if self.path.exists() else {}

    def recall(self, topic: str, key: str) -> object:
        return self.facts.get(f"{topic}/{key}")

    def remember(self, topic: str, key: str, value: object) -> None:
        self.facts[f"{topic}/{key}"] = value
        self.path.write_text(json.dumps(self.facts))


if __name__ == "__main__":
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER],
        env={**os.environ, **orphans.marker()},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    grandchild = int(server.stdout.readline())
    asyncio.run(orphans.record(Ledger(sys.argv[1]), server.pid))
    print(server.pid, grandchild, flush=True)
    if "stay" in sys.argv:
        sys.stdin.read()
    os._exit(1)
