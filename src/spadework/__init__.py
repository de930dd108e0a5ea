"""spadework."""
