"""What a run may take and will take: its policy for models, its forecast, its further rounds."""
