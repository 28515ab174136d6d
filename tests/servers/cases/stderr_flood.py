"""256 KiB to stderr before the handshake and in each call; the last part ends in no newline at all."""

import sys

import mini


def flood():
    for count in range(2048):
        sys.stderr.write(f"INFO {count:05d} {'.' * 50}\n")
    for count in range(4096):
        sys.stderr.write(f"\rprogress {count:6d}/4096 {'#' * 20}")
    sys.stderr.flush()


flood()
mini.serve([mini.tool("spam")], call=lambda params: (flood(), mini.text("answered"))[1])
