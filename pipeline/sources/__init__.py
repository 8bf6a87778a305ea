"""Where masks and margins come from: folders, and objects on the network that are fetched by ranges."""
