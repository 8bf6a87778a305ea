"""Which tests to make: the paper's draws, and designs of one's own. A design never looks at the tested rows."""
