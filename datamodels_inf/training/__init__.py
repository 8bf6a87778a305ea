"""Many small models on random subsets of a training set, for data of one's own. Importing it brings torch."""
