"""Chat models: requests to their servers, and their replies."""
