"""The card below the table: everything about the one server that is selected."""
