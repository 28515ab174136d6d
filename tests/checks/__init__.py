"""What every test gets: a loop for async tests, a home of its own, and checks that nothing is left.

`tests/conftest.py` loads the parts that need no Qt; `tests/ui/conftest.py` adds `qt`.
`tests/test_checks_bite.py` proves that each check fails a bad test.
"""
