"""Ignores the end of stdin and SIGTERM, as does its child. Tool `pids`: both process ids.

`unkillable.py orphan` ends at the end of stdin, and leaves the child.
"""

import os
import signal
import sys
import time

import mini

signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = os.fork()
if child == 0:
    os.close(0)
    time.sleep(600)
    os._exit(0)
mini.serve([mini.tool("pids")], call=lambda params: mini.text(f"{os.getpid()} {child}"))
if "orphan" not in sys.argv:
    time.sleep(600)
