"""Small blocks of numbers, one for each example of a batch: steps that are done together, across the examples."""
