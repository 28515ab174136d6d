"""What the tables show: models of servers, of what they offer and of what they said."""
