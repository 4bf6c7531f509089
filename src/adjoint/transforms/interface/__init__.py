"""What passes between users and derivatives: inputs that are checked, results as they should be seen."""
