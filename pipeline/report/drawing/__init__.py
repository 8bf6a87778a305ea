"""Lines, bars and pictures: what page and PNG draw with."""
