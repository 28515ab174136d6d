"""Its tool closes stdout; the process itself stays until it is ended."""

import os
import time

import mini


def call(_params):
    os.close(1)
    time.sleep(600)


mini.serve([mini.tool("close")], call)
