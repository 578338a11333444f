"""Programs that stories run, and pages that they try."""
