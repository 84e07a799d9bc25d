"""Servers of datasets on this machine, for benchmarks and tests: nginx, and SeaweedFS, which speaks S3."""
import contextlib
import os
import pathlib
import random
import socket
import subprocess
import sysconfig
import time

KEY, SECRET = "AKIDEXAMPLE", "s3cr3t/+x="
SCRIPTS = pathlib.Path(sysconfig.get_path("scripts"))
ECHO = pathlib.Path("/usr/lib/nginx/modules/ngx_http_echo_module.so")
LATENCY = 0.05  # seconds that the late server waits before each answer


def free_ports(count):
    """Ports whose neighbours 10,000 above are free too: SeaweedFS speaks gRPC there."""
    found = []
    while len(found) < count:
        port = random.randint(10_000, 25_000)
        with contextlib.ExitStack() as stack:
            try:
                for each in (port, port + 10_000):
                    stack.enter_context(socket.socket()).bind(("127.0.0.1", each))
            except OSError:
                continue
        if port not in found:
            found.append(port)
    return found


@contextlib.contextmanager
def seaweedfs(home):
    """A client of it, by boto3; AWS's variables name it meanwhile."""
    identity = ('{"identities": [{"name": "me", "credentials": [{"accessKey": "%s", "secretKey": "%s"}],'
                ' "actions": ["Admin", "Read", "Write", "List"]}]}' % (KEY, SECRET))
    (home / "s3.json").write_text(identity)
    master, volume, filer, s3 = free_ports(4)
    command = [SCRIPTS / "weed", "server", f"-dir={home}", "-ip=127.0.0.1", f"-master.port={master}",
               f"-volume.port={volume}", f"-filer.port={filer}", "-s3", f"-s3.port={s3}",
               f"-s3.config={home / 's3.json'}", "-volume.max=20", "-master.telemetry=false",
               "-s3.port.iceberg=0", "-s3.port.lance=0"]
    with open(home / "log", "wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as server:
        yield from serving_s3(server, s3)


def serving_s3(server, port):
    import boto3

    os.environ |= {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ACCESS_KEY_ID": KEY,
                   "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "us-east-1"}
    try:
        client = boto3.client("s3")
        for _ in range(120):
            with contextlib.suppress(Exception):
                client.list_buckets()
                break
            time.sleep(0.5)
        else:
            raise SystemExit("the S3 server does not answer")
        yield client
    finally:
        server.terminate()


def certificate(home):
    """Of 127.0.0.1, signed by itself; SSL_CERT_FILE is to name it."""
    file, key = home / "certificate.pem", home / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", file], check=True,
                   stderr=subprocess.DEVNULL)
    return file, key


@contextlib.contextmanager
def nginx(home, root):
    """The URLs of a directory by name: http, https and, where its module "echo" is installed, late."""
    home, root = home.resolve(), root.resolve()
    ports = dict(zip(("http", "https", "late"), free_ports(3)))
    file, key = certificate(home)
    late = f"""server {{
    listen 127.0.0.1:{ports["late"]};
    location / {{ echo_sleep {LATENCY}; echo_exec @now; }}
    location @now {{ }}
  }}""" if ECHO.exists() else ""
    temporary = "\n  ".join(f"{each}_temp_path {home}/temporary;" for each in
                            ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (home / "nginx.conf").write_text(f"""{f"load_module {ECHO};" if late else ""}
daemon off;
pid {home}/nginx.pid;
error_log {home}/nginx.log;
worker_processes 1;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  {temporary}
  sendfile on;
  keepalive_requests 1000000;
  default_type application/octet-stream;
  root {root};
  autoindex on;
  server {{
    listen 127.0.0.1:{ports["http"]};
    listen 127.0.0.1:{ports["https"]} ssl;
    ssl_certificate {file};
    ssl_certificate_key {key};
  }}
  {late}
}}
""")
    os.environ["SSL_CERT_FILE"] = str(file)
    with subprocess.Popen(["nginx", "-c", home / "nginx.conf", "-e", home / "nginx.log"]) as server:
        try:
            for _ in range(100):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", ports["http"])):
                    break
                time.sleep(0.1)
            else:
                raise SystemExit(f"nginx does not answer; see {home}/nginx.log")
            urls = {"http": f"http://127.0.0.1:{ports['http']}", "https": f"https://127.0.0.1:{ports['https']}"}
            if late:
                urls["late"] = f"http://127.0.0.1:{ports['late']}"
            yield urls
        finally:
            server.terminate()
