"""Who looks at clusters, and who loads them."""
