"""What is changed outside the library: an entry for each kind of change, and a record of every change that lasts."""
