"""What is kept on the disk: the journal of a session, its pages, and the files between."""
