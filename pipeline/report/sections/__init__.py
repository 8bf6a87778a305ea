"""The parts of the page, each as data for its template."""
