"""The parts of ending a tree that can be tried on every system."""

from __future__ import annotations

import sys

import pytest

from mcp_patchbay.engine.stdio import process_tree
from mcp_patchbay.engine.stdio.process_tree import PosixTree, WindowsTree, tree_of


def test_a_windows_tree_without_a_job_has_one_hard_ending():
    tree = WindowsTree(1, lambda: None)
    assert tree.endings == (tree.kill,)
    assert not tree.alive()


def test_a_windows_tree_lives_as_long_as_its_job(monkeypatch):
    tree = WindowsTree(1, lambda: None)
    monkeypatch.setitem(process_tree.win32._process_jobs, tree, object())
    assert tree.alive()
    tree.leader_exited()
    assert tree.alive()


@pytest.mark.skipif(sys.platform == "win32", reason="process groups")
def test_a_group_that_had_no_member_left_is_never_signalled_again(monkeypatch):
    tree = tree_of(2**22 + 1, lambda: None)  # over the largest id that Linux gives
    assert isinstance(tree, PosixTree)
    tree.leader_exited()
    monkeypatch.setattr(process_tree.os, "killpg", lambda *_: pytest.fail("someone else's group was signalled"))
    assert not tree.alive()


def test_no_console_window_is_opened_and_the_tree_can_be_told_apart():
    wanted = "creationflags" if sys.platform == "win32" else "start_new_session"
    assert process_tree.SPAWN_OPTIONS[wanted]
