"""What `write` refuses, and what it says of it."""

import os
import pathlib
import signal
import subprocess
import sys
import unittest

import feedrate
from support import patience, place
from write_test import Numbers, Pixels, Rows, pictures


class Dies(Rows):
    def __getitem__(self, index):
        if index == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getitem__(index)


class InteropWriteRefused(unittest.TestCase):
    def out(self, name=None):
        return place(name or self.id().rpartition(".")[2])

    def test_does_not_go_on_with_other_samples(self):
        items, classes = pictures()
        with self.assertRaises(KeyError):
            feedrate.write(self.out(), Rows(items, fault=40), classes=classes)
        with self.assertRaisesRegex(feedrate.DataError, "of the first of 64"):
            feedrate.write(self.out(), Rows(items[1:]), classes=classes, resume=True)

    def test_errors_name_the_item_and_what_is_expected(self):
        items, classes = pictures()
        jpeg = items[0][0].read_bytes()
        refused = {
            "item 1: label: expected 0 to 2147483647, found -1": (jpeg, -1),
            "item 1: label: expected a whole number, found 1.5": (jpeg, 1.5),
            "item 1: label: expected a whole number, found 'cat'": (jpeg, "cat"),
            "item 1: label: expected a whole number, found True": (jpeg, True),
            "item 1: image: expected bytes as 'bytes', found str": ({"bytes": "text"}, 0),
            "item 1: image: expected an encoded image, found no bytes": (b"", 0),
            "item 1: image: expected the bytes of .*, found int": (7, 0),
            "item 1: image: expected values of type uint8": (memoryview(bytes(48)).cast("f", (2, 2, 3)), 0),
            "item 1: image: expected H x W x C .*found \\(2, 2, 4\\)": (Pixels(bytes(16), 2, 2, 4), 0),
            "item 1: image: expected the bytes of an encoded image, as the first item": (Pixels(bytes(4), 2, 2), 0),
            "item 1: expected \\(image, label\\)": jpeg,
            "item 1: expected columns 'image' and 'label', found 'img'": {"img": jpeg},
            "item 1: name: expected text, found 7": (jpeg, 0, 7),
            "item 1: name: found .*, which no file can have: surrogates": (jpeg, 0, "\ud800"),
        }
        for text, item in refused.items():
            with self.subTest(text), self.assertRaisesRegex((TypeError, ValueError), text):
                feedrate.write(self.out(), [(jpeg, 0), item])
            self.assertFalse(os.path.exists(self.out()))
        with self.assertRaisesRegex(feedrate.DataError, "sample 1: no codec knows these 12 bytes"):
            feedrate.write(self.out(), [(jpeg, 0), (b"not an image", 0)])
        with self.assertRaisesRegex(ValueError, "item 1: label: expected 0 to 1, found 2"):
            feedrate.write(self.out(), [(jpeg, 0), (jpeg, 2)], classes=["cat", "dog"])
        with self.assertRaisesRegex(ValueError, "expected at least one, found none"):
            feedrate.write(self.out(), [])
        with self.assertRaisesRegex(ValueError, "shuffle what is given"):
            feedrate.write(self.out(), items, shuffle=1)
        with self.assertRaisesRegex(ValueError, "--colour"):
            feedrate.write(self.out(), items, colour="red")
        with self.assertRaisesRegex(ValueError, "processes: expected 1"):
            feedrate.write(self.out(), iter(items), processes=2)
        for wrong in ({"columns": "img"}, {"columns": ("img",)}, {"split": 3}, {"processes": 2.0}, {"classes": True}):
            with self.subTest(wrong), self.assertRaises(TypeError):
                feedrate.write(self.out(), items, **wrong)
        with self.assertRaisesRegex(ValueError, "out: the path says"):
            feedrate.write(self.out(), items, out="elsewhere")
        with self.assertRaisesRegex(TypeError, "classes: expected how many"):
            feedrate.write(self.out(), items, classes="cat")
        self.assertFalse(os.path.exists(self.out()))

    def test_names_of_splits_are_names_of_files(self):
        items, _ = pictures()
        for split in ("", ".", "..", "../x", "a/b", "/abs", "a\nb", "a\0b", "\ud800", "x" * 300):
            with self.subTest(split):
                with self.assertRaisesRegex(ValueError, "split: expected a name"):
                    feedrate.write(self.out(), items, to="tfrecord", split=split)
                with self.assertRaisesRegex(ValueError, "split: expected a name"):
                    feedrate.Writer(self.out(), split=split)
        self.assertFalse(os.path.exists(self.out()))

    def test_names_of_classes_differ_and_are_lines_of_text(self):
        items, _ = pictures()
        for name in ("", " ", "a\nb", "a\tb", "a\0b", "\ud800"):
            with self.subTest(name), self.assertRaisesRegex(ValueError, "classes: expected names in one line.* at 1"):
                feedrate.write(self.out(), items, classes=["cat", name])
        with self.assertRaisesRegex(ValueError, "expected names that differ, found 'cat' at 0 and 2"):
            feedrate.write(self.out(), items, classes=["cat", "dog", "cat"])
        for count in (0, -1, 2**31 + 1, 2**32):
            with self.subTest(count), self.assertRaisesRegex(ValueError, f"classes: expected 1 to .*, found {count}"):
                feedrate.write(self.out(), items, classes=count)
        self.assertFalse(os.path.exists(self.out()))

    @unittest.skipUnless(hasattr(BaseException, "add_note"), "notes came with Python 3.11")
    def test_errors_of_any_type_note_the_item(self):
        items, _ = pictures()

        def ends_at_5():
            yield from items[:5]
            raise KeyError("row")

        def noted(samples, **options):
            with self.assertRaises((KeyError, OSError)) as caught:
                feedrate.write(self.out(), samples, **options)
            self.assertFalse(os.path.exists(self.out()))
            return caught.exception.__notes__

        self.assertEqual(noted(ends_at_5()), ["while feedrate read item 5"])
        self.assertEqual(noted(Rows(items, fault=0)), ["while feedrate read item 0"])
        self.assertEqual(noted(Rows(items, fault=7)), ["while feedrate read item 7"])
        self.assertEqual(noted(Rows(items, fault=7), processes=2), ["while feedrate read item 7"])
        self.assertEqual(noted([items[0], (pathlib.Path("/nonesuch.png"), 0)]), ["while feedrate read item 1"])

    def test_a_script_that_is_run_again_by_its_processes_is_told(self):
        script = place("unguarded.py")
        code = f"""
import multiprocessing, sys
sys.path[:0] = {sys.path!r}
import feedrate
from write_test import Numbers
multiprocessing.set_start_method(sys.argv[2], force=True)
feedrate.write(sys.argv[1], Numbers(40), processes=2)
"""
        pathlib.Path(script).write_text(code)
        for method in ("spawn", "forkserver"):
            with self.subTest(method):
                words = [sys.executable, "-W", "ignore", script, self.out(f"unguarded-{method}"), method]
                done = subprocess.run(words, capture_output=True, text=True, timeout=patience)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, "is called again while a process of it is started.*__main__")
                self.assertRegex(done.stderr.splitlines()[-1], "could not be started.*__main__")
                self.assertFalse(os.path.exists(self.out(f"unguarded-{method}")))

    def test_a_process_that_is_killed_is_told(self):
        with self.assertRaisesRegex(RuntimeError, "was killed"):
            feedrate.write(self.out(), Dies(pictures()[0]), processes=2)
        self.assertFalse(os.path.exists(self.out()))


if __name__ == "__main__":
    unittest.main()
