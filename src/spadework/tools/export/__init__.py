"""Export the report to several formats."""
