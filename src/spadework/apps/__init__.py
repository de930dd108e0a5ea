"""The front doors, without logic of their own."""
