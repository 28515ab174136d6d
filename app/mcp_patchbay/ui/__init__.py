"""Everything Qt: event loop, models, widgets, windows and the tray."""
