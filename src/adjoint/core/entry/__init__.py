"""What the entry of an operation says of it besides value and derivative: light facts that every room reads."""
