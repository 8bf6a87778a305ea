"""The atlas: the influence of every training image on many targets, with error bars, and which of them are findings."""
