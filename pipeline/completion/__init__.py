"""What a shell completes, from names and settings that are written down, and the scripts that shells load."""
