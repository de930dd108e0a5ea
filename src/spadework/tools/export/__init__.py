"""The report in the formats it is handed over in."""
