"""Whether probabilities come true as often as they say, and how to make them."""
