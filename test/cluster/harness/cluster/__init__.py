"""A cluster: its components, its network, and what is in it."""
