"""Datasets of a web server: the batches of the disk."""

import http.server
import inspect
import os
import pickle
import re
import shutil
import tempfile
import threading
import unittest

import feedrate
from support import photographs


class Ranges(http.server.SimpleHTTPRequestHandler):
    """Serves ranges over connections that stay, and counts these."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet

    def setup(self):
        super().setup()
        self.server.connections += 1

    def do_GET(self):
        self.server.gets += 1
        path = self.translate_path(self.path)
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if not asked or not os.path.isfile(path):
            super().do_GET()
            return
        first, last = map(int, asked.groups())
        with open(path, "rb") as file:
            file.seek(first)
            body = file.read(last + 1 - first)
        self.send_response(206)
        self.send_header("ETag", f'"{os.stat(path).st_mtime_ns:x}"')
        self.send_header("Content-Range", f"bytes {first}-{last}/{os.path.getsize(path)}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def end_headers(self):
        path = self.translate_path(self.path)
        if self.command == "HEAD" and os.path.isfile(path):
            self.send_header("ETag", f'"{os.stat(path).st_mtime_ns:x}"')
        super().end_headers()

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    connections = gets = 0
    daemon_threads = True

    def handle_error(self, *_):
        pass  # a loader that ends leaves what it had asked for


class Remote(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.local = photographs()
        directory = os.path.dirname(cls.local)
        cls.server = Server(("127.0.0.1", 0), lambda *given: Ranges(*given, directory=directory))
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        host = f"http://127.0.0.1:{cls.server.server_port}/"
        cls.url = host + os.path.basename(cls.local) + "/"
        cls.other = f"{cls.url}data.rec"

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()
        cls.server.server_close()

    @staticmethod
    def batches(dataset, **settings):
        loader = feedrate.Loader(dataset, batch=16, recipe="imagenet-train", epochs=2, **settings)
        return [(batch.images.tobytes(), batch.labels.tolist()) for batch in loader]

    def test_batches_are_those_of_the_disk(self):
        here = self.batches(self.local)
        for place in self.url, self.other:
            self.assertEqual(self.batches(place, threads=3), here)
        self.assertEqual(feedrate.open(self.url)[5].image.tobytes(), feedrate.open(self.local)[5].image.tobytes())

    def test_settings_are_the_shells(self):
        before = self.server.connections
        dataset = feedrate.open(self.url, connections=1, endpoint="https://unused")
        looked = self.server.connections - before  # the list, and what each file is
        self.batches(dataset)
        self.assertLessEqual(self.server.connections - before, looked + 1)
        again = pickle.loads(pickle.dumps(dataset))
        self.assertEqual(again._settings, {"connections": 1, "endpoint": "https://unused"})
        self.assertEqual(again[3].label, dataset[3].label)
        mixed = pickle.loads(pickle.dumps(feedrate.mix({dataset: 1, self.local: 1})))
        self.assertEqual(len(mixed), 2 * len(dataset))

    def test_wrong_settings_are_refused(self):
        for settings, kind, words in (
            ({"connections": 0}, ValueError, "connections: expected a whole number from 1 to 4096, found 0"),
            ({"connections": "many"}, TypeError, "connections: expected a whole number"),
            ({"endpoint": "host"}, ValueError, "endpoint: host: expected a URL"),
            ({"conections": 1}, TypeError, "did you mean connections"),
        ):
            with self.assertRaisesRegex(kind, re.escape(words)):
                feedrate.open(self.url, **settings)

    def test_what_is_not_there_is_named(self):
        with self.assertRaisesRegex(feedrate.DataError, "there is no such object"):
            feedrate.open(self.url + "absent.rec")

    def test_a_dataset_that_lacks_samples_is_refused(self):
        with tempfile.TemporaryDirectory(dir=os.path.dirname(self.local)) as copy:
            for name in os.listdir(self.local):
                shutil.copy(os.path.join(self.local, name), copy)
            sidecar = os.path.join(copy, "feedrate.json")
            with open(sidecar) as file:
                text = re.sub(r'("count": *)64', r"\g<1>65", file.read())
            with open(sidecar, "w") as file:
                file.write(text)
            url = self.url.replace(os.path.basename(self.local), os.path.basename(copy))
            for place in copy, url:
                with self.assertRaisesRegex(feedrate.DataError, "expected the 65 samples"):
                    feedrate.open(place)

    def test_the_signature_names_the_settings(self):
        self.assertIn("connections", inspect.signature(feedrate.open).parameters)
        self.assertIn("number of connections to a server", feedrate.open.__doc__)

    def test_what_is_a_url_is_said_once(self):
        """A path whose first directory is named like a scheme is that directory's, in Python too."""
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as directory:
            os.chdir(directory)
            try:
                os.mkdir("s3:")
                os.symlink(photographs(), "s3:/there")
                self.assertEqual(len(feedrate.open("s3://there")), 64)
                with self.assertRaises(FileNotFoundError):
                    feedrate.open("s3://not-there")
            finally:
                os.chdir(before)
        for name in "2ab://host/data", "ftp://host/data":
            with self.assertRaisesRegex(feedrate.DataError, "expected .*s3"):
                feedrate.open(name)


if __name__ == "__main__":
    unittest.main()
