"""Small HTTP servers that do one odd thing each, run in the test's own loop."""
