"""How a program is seen: handles, primitives, rules, and the traces that take its steps."""
