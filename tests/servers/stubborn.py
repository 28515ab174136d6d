"""A server that will not go: it ignores SIGTERM and the end of its input, and has a grandchild that does the same.

Both write their pid as a line to the file given as the argument, so that a test can look for them.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

IGNORE = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
MIDDLE = "import subprocess, sys, time; " + IGNORE


def note(path: str, pid: int) -> None:
    """Append a pid to the file."""
    with Path(path).open("a", encoding="ascii") as file:
        file.write(f"{pid}\n")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    grandchild = IGNORE + "print('up', flush=True); time.sleep(600)"
    child = MIDDLE + (
        f"p = subprocess.Popen([sys.executable, '-c', {grandchild!r}]); print(p.pid, flush=True); time.sleep(600)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", child], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    pids = [line.strip() for line in (process.stdout.readline(), process.stdout.readline())]
    if len(sys.argv) > 1:
        for pid in (os.getpid(), process.pid, *(int(pid) for pid in pids if pid.isdigit())):
            note(sys.argv[1], pid)

    from mcp.server import MCPServer

    server = MCPServer("stubborn")

    @server.tool()
    def echo(text: str) -> str:
        """Give back the text."""
        return text

    serving = threading.Thread(target=lambda: server.run("stdio"), daemon=True)
    serving.start()
    while True:  # also after the protocol has ended
        time.sleep(60)
