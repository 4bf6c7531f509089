"""What is known of Python itself: instructions, frames, objects, processes. The lowest room: it imports no other."""
