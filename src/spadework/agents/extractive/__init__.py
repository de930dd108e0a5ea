"""Do the models' work without a model. Results are deterministic and quote only sources."""
