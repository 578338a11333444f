"""The products of this tree: the image, the chart's archive, programs, and the list of what is in them."""
