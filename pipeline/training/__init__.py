"""Models trained here: `job` says what they depend on, `inputs` what they see, `workers` train them, `made_set` keeps
their masks and margins as a source folder."""
