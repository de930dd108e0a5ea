"""The front door for models: six tools over the Model Context Protocol, by stdio and by HTTP."""
