"""The LASSO on bit-packed masks: a datamodel for each target, at the size of the released data, with a duality gap.

`solver` is the face (`fit_lasso`, `lasso_path`, `Lasso`), `prefixes` that of fits of ever more rows; `gram` counts what
masks have in common, `descent` solves, `columns` holds the masks transposed, `memory` plans.
"""
