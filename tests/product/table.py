"""What the program says of itself: its commands, their options and the values that these take.

Read from the completion for zsh, which is made from the program's tables, so a new option is tried
without a line here. A new unit of values needs an entry in UNITS, or gets any of their values."""

import collections
import re
import subprocess

# place: "_files" or "_files -/" where the value is a path; flags have no unit.
Option = collections.namedtuple("Option", "name unit words place several")

COMMAND = re.compile(r"\n    ([\w-]+)\)\n      _arguments -S((?: \\\n        .*)*)\n      ;;")
SPECIFICATION = re.compile(r"'((?:[^']|'\\'')*)'")
OPTION = re.compile(r"(--[\w-]+)=?\[(?:\\.|[^\\\]])*\](.*)", re.DOTALL)

WHOLE = ["1", "2", "3", "4", "5", "8", "13", "0"]
UNITS = {
    "N": WHOLE, "N|auto": WHOLE, "SEED": ["0", "1", "7", "18446744073709551615"], "R": WHOLE,
    "S": ["0.05", "0.2"], "RATE": ["500", "100000"], "SIZE": ["short:16", "long:20", "24x18"],
    "I/N": ["1/1", "1/2", "2/2"], "PxK": ["2x2", "3x1"], "STATE": ["0", "1", "0:5", "2:3"],
    "M": ["0", "33.5", "120,110,100"], "D": ["1", "58.25", "60,61,62"], "E": ["1e-7", "1"],
    "B": ["0.9", "0.999"], "T": ["0.001"], "CODEC": ["jpeg:80", "packed:80"],
}
ODD = ["", "-1", "x", "0", "1.5", "nan", "1e-9", "18446744073709551616", "-0", "1,1", "0x2", "2x0", "é"]


def unescaped(text):
    return re.sub(r"\\(.)", r"\1", text)


def option_of(name, rest):
    parts = re.split(r"(?<!\\):", rest)  # "", the unit, the action; of a flag nothing
    if len(parts) < 3:
        return Option(name, "", [], "", False)
    action = unescaped(parts[2])
    words = [] if action.startswith("_files") else re.sub(r"^_sequence compadd - |[()]", "", action).split()
    place = action if action.startswith("_files") else ""
    return Option(name, unescaped(parts[1]), words, place, action.startswith("_sequence"))


def commands(program):
    """{name: (arguments, {name: option})}"""
    text = subprocess.run([program, "completion", "zsh"], capture_output=True, text=True, check=True).stdout
    found = {}
    for command, rows in COMMAND.findall(text):
        arguments, options = [], {}
        for specification in SPECIFICATION.findall(rows):
            specification = specification.replace("'\\''", "'")
            named = OPTION.fullmatch(specification)
            if named:
                options[named[1]] = option_of(*named.groups())
            elif specification[0] in "*123456789":
                _, name, action = specification.split(":", 2)
                arguments.append(option_of(name, f":{name}:{action}"))
        del options["--help"]
        found[command] = arguments, options
    assert len(found) > 10, text
    return found


def value(option, random, paths, odd=0.0):
    """A value of an option, or of an argument; `odd` is the probability of one that makes no sense."""
    if random.random() < odd:
        return random.choice(ODD)
    if option.place:
        return random.choice(paths)
    choices = option.words + UNITS.get(option.unit, [] if option.words else sum(UNITS.values(), []))
    count = random.choice([1, 2]) if option.several else 1
    return ",".join(random.choices(choices, k=count))


def words(chosen):
    """Of {name: value}; the value of a flag is None."""
    return [word for name, text in chosen.items() for word in ([name] if text is None else [name, text])]


def pick(options, random, paths, without=(), odd=0.0):
    """Two or three options with values."""
    names = [name for name in options if name not in without]
    chosen = {}
    for name in random.sample(names, min(len(names), random.choice([2, 2, 3]))):
        option = options[name]
        chosen[name] = value(option, random, paths, odd) if option.unit else None
    return chosen
