"""The disk: results of stages under keys, files that appear whole, steps of unfinished work."""
