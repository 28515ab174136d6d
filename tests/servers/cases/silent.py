"""Prints a line that is no protocol, and never answers anything."""

import mini

mini.raw(b"here I am\n")
while mini.receive() is not None:
    pass
