"""What a session keeps on the disk."""
