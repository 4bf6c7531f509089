"""Every step of a derivative, for eyes."""
