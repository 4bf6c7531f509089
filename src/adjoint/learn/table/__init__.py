"""Tables with categories, missing values and dates: read, encoded, and learned by a packed ensemble of networks."""
