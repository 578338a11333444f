"""Real software for the stories that `tools/test apps` runs: where it comes from, and the images made of it."""
