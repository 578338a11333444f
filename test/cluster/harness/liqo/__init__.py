"""Liqo in a cluster: installed, peered, in use."""
