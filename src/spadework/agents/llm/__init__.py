"""Send requests to chat models and read their replies."""
