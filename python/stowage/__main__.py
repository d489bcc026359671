"""The command line: `python -m stowage`, and the program `stowage` that pip installs."""

import sys

from . import _core


def main() -> int:
    return _core.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
