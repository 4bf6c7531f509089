"""What is computed where: a program in the compiler's words, its steps by kind, and the plan."""
