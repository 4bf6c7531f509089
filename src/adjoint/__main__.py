"""The `adjoint` command where its script is not on the path: `python -m adjoint`."""

import sys

from .cli.main import main

if __name__ == "__main__":
    sys.exit(main())
