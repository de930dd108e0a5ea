"""What a text is made of: its language and its words."""
