"""What a jitted function reads besides its arguments, kind by kind."""
