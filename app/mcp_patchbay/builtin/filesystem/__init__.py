"""The in-process server `filesystem`: files and folders, confined to the folders its user allows."""
