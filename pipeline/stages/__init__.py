"""The four stages. Each module has VERSION, raised when its results change, and a function that fills a folder."""
