"""How a program is seen and walked: handles, primitives, walks."""
