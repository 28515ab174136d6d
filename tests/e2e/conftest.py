"""Tests with Qt: async ones run on the app's own loop."""

from __future__ import annotations

from checks.qt import loop_factory, other_inventory, qwait

__all__ = ["loop_factory", "other_inventory", "qwait"]
