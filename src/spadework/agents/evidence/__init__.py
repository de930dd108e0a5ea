"""What evidence is asked for, and what code can see in it."""
