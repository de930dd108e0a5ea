"""Changes of a report: revised, extended, partly rechecked."""
