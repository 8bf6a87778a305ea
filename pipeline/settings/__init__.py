"""What every section of the configuration is made of, and the sections `[verify]` and `[referee]`.

They are apart from the stages that they steer: those read the whole configuration, and the imports would go in circles.
`pipeline.config` joins all sections; `[train]` and `[cluster]` are in `training/` and `places/`.
"""
