"""`python -m feedrate` is the program `feedrate`."""

from feedrate._program import main

if __name__ == "__main__":
    main()
