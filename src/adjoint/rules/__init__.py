"""How a primitive is differentiated: one final class per file."""
