"""The roles of the loop, one file each."""
