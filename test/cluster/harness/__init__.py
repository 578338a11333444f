"""Real Kubernetes clusters for tests: each one is a set of namespaces that dies with the process that made it."""
