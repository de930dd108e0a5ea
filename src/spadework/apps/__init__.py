"""User interfaces, without logic of their own."""
