"""Real software for the stories that `tools/test apps` runs: where its pieces come from, and the images made of them."""
