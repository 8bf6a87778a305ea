"""Arrays and files that live elsewhere: fetched by byte ranges, packed while they stream, and never fetched twice."""
