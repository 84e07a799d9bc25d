"""Prints the stub of feedrate._keywords: the types of the settings that loaders take by name."""

from feedrate._settings import OF_RUNS, REMOTE_SETTINGS, SETTINGS


def fields(names, table=SETTINGS):
    for name in names:
        yield f"    {name}: {table[name]['type']}"
        yield f'    """{table[name]["sentence"]}."""'


def main():
    common = [name for name in SETTINGS if name not in OF_RUNS and name != "recipe"]
    print("# Made by the build from loader/settings.h and formats/remote/settings.h.")
    print("from typing import Literal, Sequence, TypedDict")
    print("\nclass EpochKeywords(TypedDict, total=False):", *fields(common), sep="\n")
    print("\nclass LoaderKeywords(EpochKeywords, total=False):", *fields(OF_RUNS), sep="\n")
    remote = fields(REMOTE_SETTINGS, REMOTE_SETTINGS)
    print("\nclass RemoteKeywords(TypedDict, total=False):", *remote, sep="\n")


main()
