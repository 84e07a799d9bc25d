"""The settings of loaders are those of the library's table: their names, limits, defaults and words."""

import inspect
import os
import re
import typing
import unittest

import feedrate
from feedrate._settings import OF_RUNS, REMOTE_SETTINGS, SETTINGS
from support import mnist, shell


class UnitSettings(unittest.TestCase):
    def test_the_signature_has_every_setting_with_its_default(self):
        parameters = inspect.signature(feedrate.Loader).parameters
        for name, row in SETTINGS.items():
            self.assertEqual(parameters[name].default, row["default"], name)
        self.assertNotIn("settings", parameters)
        self.assertEqual(parameters["batch"].default, 64)
        self.assertEqual(parameters["threads"].default, "auto")
        types = typing.get_type_hints(feedrate.Loader.__init__)
        self.assertEqual(set(types), {*parameters, "return"})
        self.assertEqual(types["pixels"], typing.Literal["u8", "f32", "f16"])

    def test_the_documentation_has_every_setting_with_its_limit(self):
        text = feedrate.Loader.__init__.__doc__
        for name, row in SETTINGS.items():
            self.assertRegex(text, rf"\n    {name}: ")
            if "max" in row:
                self.assertIn(f"({row['min']:,} to {row['max']:,})", " ".join(text.split()), name)

    def test_the_stub_has_every_setting(self):
        path = os.path.join(os.path.dirname(feedrate._native.__file__), "_keywords.pyi")
        if not os.path.exists(path):
            self.skipTest("a sanitized module has no stubs")
        with open(path) as file:
            stub = file.read()
        found = dict(re.findall(r"^    (\w+): (.*)$", stub, re.MULTILINE))
        every = SETTINGS | REMOTE_SETTINGS
        self.assertEqual(found, {name: row["type"] for name, row in every.items() if name != "recipe"})
        self.assertTrue(set(OF_RUNS) < set(found))

    def test_defaults_and_limits_are_accepted_and_what_is_beyond_is_refused(self):
        for name, row in SETTINGS.items():
            feedrate.Loader(mnist(), **{name: row["default"]})
            if "max" not in row:
                continue
            with self.assertRaisesRegex(ValueError, rf"^{name}: .* from {row['min']} to {row['max']}\b"):
                feedrate.Loader(mnist(), **{name: row["max"] + 1})
            others = {"rank": {"ranks": row["max"] + 1, "last": "wrap"}, "ranks": {"last": "wrap"}}
            feedrate.Loader(mnist(), **{name: row["max"]}, **others.get(name, {}))
            if row["min"] > 0:
                with self.assertRaisesRegex(ValueError, f"^{name}: "):
                    feedrate.Loader(mnist(), **{name: row["min"] - 1})

    def test_other_words_are_refused_with_those_that_there_are(self):
        words = {name: re.findall(r"'(\w+)'", row["type"]) for name, row in SETTINGS.items()}
        for name in "pixels", "layout", "decode", "last", "on_bad", "threads":
            with self.assertRaisesRegex(ValueError, f"^{name}: .*" + ".*".join(words[name])):
                feedrate.Loader(mnist(), **{name: "no such word"})

    def test_the_shell_has_every_setting(self):
        options = re.findall(r"--[a-z-]+", shell("help", "load"))
        for row in SETTINGS.values():
            self.assertIn(row["shell"], options)


if __name__ == "__main__":
    unittest.main()
