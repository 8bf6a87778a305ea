"""Models trained here: `job` says what they depend on, `inputs` what they see, `work` trains them, `parts` keeps
what is finished, `made_set` makes a source folder of their masks and margins, and `merge` one of shards."""
