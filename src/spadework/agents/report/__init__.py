"""The text of a report: its marks, its sentences in context, and what code can check of them."""
