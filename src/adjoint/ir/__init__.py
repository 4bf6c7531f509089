"""A recorded program as data: typed steps, how it is captured, printed, interpreted and simplified."""
