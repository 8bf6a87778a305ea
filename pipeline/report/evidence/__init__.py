"""What the report looks up in held-out models and datamodels for what it shows."""
