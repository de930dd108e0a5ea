"""Chat models: how their servers are asked, and what their replies are."""
