from __future__ import annotations


class DataError(Exception):
    """Data that cannot be read. The text names the place, what was expected and what was found.

    Attributes:
        file: the file that holds the sample; None where the error is not about one file.
        sample: index of the sample in its dataset; None where no sample is to blame.
        byte: where the sample starts in the file; 0 where it has a file of its own.
    """

    file: str | None
    sample: int | None
    byte: int | None

    def __init__(
        self,
        text: str,
        file: str | None = None,
        sample: int | None = None,
        byte: int | None = None,
    ) -> None:
        super().__init__(text, file, sample, byte)
        self.file = file
        self.sample = sample
        self.byte = byte

    def __str__(self) -> str:
        return str(self.args[0])
