"""`python -m headgate` is the command line."""

from headgate.entrypoints.cli import main

if __name__ == "__main__":
    main()
