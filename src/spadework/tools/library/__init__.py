"""An index of the user's folders or of the installed Python documentation."""
