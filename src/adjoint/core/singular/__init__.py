"""Points where the plain sweep cannot tell a derivative: zeros that meet infinite slopes, and how they are decided."""
