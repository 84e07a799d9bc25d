"""A web server and S3 server of a directory, which plants faults into its answers.

A client is known by the user of its URL, or by its access key. What it meets is a function of its seed, of what it
asks for, and of how often it has asked for that."""

import base64
import collections
import html
import os
import pathlib
import random
import re
import socket
import socketserver
import struct
import threading
import time
import urllib.parse

# Gone when the same is asked for again, so a client has to get over them.
PASSING = ["late", "reset", "reset in head", "reset in body", "end in body", "500", "503", "429", "408", "slow",
           "closes", "says close", "hints", "chunked", "redirected", "short", "size unsaid"]
# These stay, for some ranges. A client may refuse what it gets, but not take it for the object.
LASTING = ["other range", "range of others", "range unsaid", "whole", "changed", "changed unasked", "changed, unsaid",
           "gzip", "long", "less", "401", "403", "404", "410", "416", "503", "circle", "to a file", "to nowhere",
           "no HTTP", "long head", "parts", "page", "a byte", "endless refusal"]
MOST_TRIES = 3  # that meet what passes
SHARE = 0.15    # of ranges that meet what stays
SILENCE = 25    # seconds: longer than a client should wait for a byte


class Client:
    def __init__(self, seed, often, lasting=None, silent=False):
        self.seed, self.often, self.lasting, self.silent = seed, often, lasting, silent
        self.lock = threading.Lock()
        self.asked, self.ranges = collections.Counter(), collections.Counter()
        self.faults = 0

    def fault(self, method, path, asked):
        """What is wrong with the answer, or nothing, and what to draw more from."""
        key = f"{method} {path} {asked}"
        with self.lock:
            self.asked[key] += 1
            self.ranges[path] += asked is not None
            tries, of_path = self.asked[key], self.ranges[path]
            draw = random.Random(f"{self.seed} {key} {tries}")
            fault = None
            changed = str(self.lasting).startswith("changed")
            if self.lasting and asked and (of_path > self.seed % 20 if changed else
                                           random.Random(f"{self.seed} {key}").random() < SHARE):
                fault = self.lasting
            elif tries <= MOST_TRIES and draw.random() < self.often:
                fault = draw.choice(PASSING)
                if self.silent:
                    self.silent, fault = False, draw.choice(["silent", "drip"])
            self.faults += fault is not None
            return fault, draw


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = allow_reuse_address = True
    request_queue_size = 256

    def __init__(self, directory):
        super().__init__(("127.0.0.1", 0), Handler)
        self.directory, self.port = pathlib.Path(directory), self.server_address[1]
        self.clients = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        pass  # clients are killed


class Handler(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        try:
            while self.answer():
                pass
        except OSError:
            pass

    def answer(self):
        """False when the connection is to end."""
        words = self.rfile.readline().decode("latin-1").split()
        headers = {}
        while line := self.rfile.readline().decode("latin-1").strip():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        if len(words) != 3:
            return False
        client = self.server.clients[user_of(headers)]
        path, _, query = words[1].partition("?")
        path = urllib.parse.unquote(path).removeprefix("/again")
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", headers.get("range", ""))
        asked = tuple(map(int, found.groups())) if found else None
        fault, draw = client.fault(words[0], path + query, asked)
        if "aws4" in headers.get("authorization", "").lower() and fault == "redirected":
            fault = "late"  # a signature is for one place
        status, more, body = self.found(path, urllib.parse.parse_qs(query), asked, headers, fault)
        return self.send(words, status, more, body, fault, draw)

    def found(self, path, query, asked, headers, fault):
        """Status, headers and body of the right answer, or of one that is wrong in itself."""
        file = self.server.directory / path.strip("/")
        if "list-type" in query:
            return 200, {"Content-Type": "application/xml"}, listed(file, query["prefix"][0])
        if file.is_dir():
            links = "".join(f'<a href="{urllib.parse.quote(one.name)}">{html.escape(one.name)}</a>\n'
                            for one in sorted(file.iterdir()) if one.is_file())
            return 200, {"Content-Type": "text/html"}, links.encode()
        if not file.is_file():
            return 404, {}, b""
        body, tag = file.read_bytes(), tag_of(file)
        if str(fault).startswith("changed"):
            body, tag = bytes(byte ^ 1 for byte in body), '"another"'
            if fault == "changed":
                return 412, {}, b""
        more = {"ETag": tag, "Content-Type": "application/octet-stream"}
        if fault == "changed, unsaid":
            del more["ETag"]
        if headers.get("if-match", tag) != tag and not str(fault).startswith("changed"):
            return 412, {}, b""
        if asked is None or fault == "whole":
            return 200, more, body
        first, last, size = asked[0], min(asked[1], len(body) - 1), len(body)
        if fault in ("other range", "range of others"):
            first, last = (first - 1, last - 1) if first else (first + 1, last + 1)
        said = asked if fault == "range of others" else (first, last)
        if fault == "less":
            said = first, last = first, (first + last) // 2
        part = body[first:last + 1]
        more["Content-Range"] = f"bytes {said[0]}-{said[1]}/{'*' if fault == 'size unsaid' else size}"
        if fault == "range unsaid":
            del more["Content-Range"]
        elif fault == "parts":
            more["Content-Type"] = "multipart/byteranges; boundary=b"
            part = f"--b\r\nContent-Range: {more.pop('Content-Range')}\r\n\r\n".encode() + part + b"\r\n--b--"
        elif fault == "gzip":
            more["Content-Encoding"] = "gzip"
        elif fault == "long":
            part += b"more"
        elif fault == "short":
            part = part[:len(part) // 2]
        elif fault == "page":
            return 200, {"Content-Type": "text/html"}, b"<html>Please sign in.</html>"
        return 206, more, part

    def send(self, words, status, more, body, fault, draw):
        if fault in ("late", "slow"):
            time.sleep(draw.random() * 0.1)
        if fault == "silent":
            time.sleep(SILENCE)
        if fault == "reset" or fault == "no HTTP":
            if fault == "no HTTP":
                self.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n" + body[:99])
            return self.reset()
        if str(fault).isdigit():
            status, body = int(fault), b"<Error><Code>Planted</Code><Message>a fault</Message></Error>"
            more = {"Retry-After": draw.choice(["0", "1", "Fri, 01 Jan 2100 00:00:00 GMT"])} if status == 429 else {}
        where = {"redirected": "/again" + words[1], "circle": words[1], "to a file": "file:///etc/passwd",
                 "to nowhere": "http://127.0.0.1:1/"}.get(fault)
        if where and words[1].startswith("/again") and fault == "redirected":
            where = None
        if where:
            status, more, body = draw.choice([301, 302, 307, 308]), {"Location": where}, b""
        if fault == "long head":
            more = {**more, "X-Long": "x" * 400_000}
        if fault == "says close":
            more = {**more, "Connection": "close"}
        chunked = fault == "chunked" and words[0] == "GET"
        more = {**more, **({"Transfer-Encoding": "chunked"} if chunked else {"Content-Length": str(len(body))})}
        lines = "".join(f"{name}: {value}\r\n" for name, value in more.items())
        head = f"HTTP/1.1 {status} Planted\r\n{lines}\r\n".encode()
        if fault == "hints":
            head = b"HTTP/1.1 103 Early Hints\r\nETag: \"hint\"\r\nLink: </x>\r\n\r\n" + head
        if words[0] == "HEAD":
            body = b""
        if chunked:
            halves = body[:len(body) // 2], body[len(body) // 2:]
            body = b"".join(b"%x\r\n%b\r\n" % (len(one), one) for one in halves if one) + b"0\r\n\r\n"
        if fault == "reset in head":
            self.wfile.write(head[:draw.randrange(len(head))])
            return self.reset()
        if fault == "a byte":
            self.wfile.write(head + body[:1])
            return False
        if fault == "endless refusal":
            self.wfile.write(b"HTTP/1.1 404 Planted\r\nTransfer-Encoding: chunked\r\n\r\n")
            while True:  # until the client has enough
                self.wfile.write(b"1000\r\n" + b"x" * 0x1000 + b"\r\n")
                time.sleep(0.01)
        if fault == "drip":
            self.wfile.write(head)
            for at in range(len(body)):
                self.wfile.write(body[at:at + 1])
                time.sleep(1)
            return False
        if fault in ("reset in body", "end in body"):
            self.wfile.write(head + body[:draw.randrange(len(body) + 1)])
            return self.reset() if fault.startswith("reset") else False
        if fault == "slow" and len(body) > 1:
            half = draw.randrange(len(body))
            self.wfile.write(head + body[:half])
            time.sleep(0.1)
            self.wfile.write(body[half:])
        else:
            self.wfile.write(head + body)
        return fault not in ("closes", "says close")

    def reset(self):
        self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.request.close()
        return False


def user_of(headers):
    word = headers.get("authorization", "")
    if key := re.search(r"Credential=([^/]+)/", word):
        return key[1]
    return base64.b64decode(word.partition(" ")[2]).decode().partition(":")[0]


def tag_of(file):
    status = os.stat(file)
    return f'"{status.st_mtime_ns:x}-{status.st_size:x}"'


def listed(bucket, prefix):
    """S3's list of the objects directly below a prefix."""
    directory = bucket / prefix
    all_files = directory.iterdir() if prefix.endswith("/") and directory.is_dir() else []
    files = sorted(one for one in all_files if one.is_file())
    return ("<ListBucketResult>" + "".join(
        f"<Contents><Key>{html.escape(prefix + one.name)}</Key><Size>{one.stat().st_size}</Size>"
        f"<ETag>{html.escape(tag_of(one))}</ETag></Contents>" for one in files) + "</ListBucketResult>").encode()
