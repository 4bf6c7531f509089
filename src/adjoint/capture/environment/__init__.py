"""What a function uses besides its arguments: found, watched for changes, and turned into inputs of its program."""
