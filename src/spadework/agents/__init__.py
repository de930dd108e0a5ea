"""Play the roles of the loop, one file each."""
