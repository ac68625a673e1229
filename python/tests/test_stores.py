"""Objects of stores: S3 by moto, Azure by Azurite, Google by fake-gcs-server. A relay stands before each, and makes faults."""

import base64
import datetime as dt
import gzip
import hashlib
import hmac
import http.client
import http.server
import io
import os
import socket
import sqlite3
import subprocess
import threading
import time
import urllib.parse
import zipfile

import pytest
from conftest import ROOT, slow

import inrush

moto_server = pytest.importorskip("moto.server")
boto3 = pytest.importorskip("boto3")
csv = pytest.importorskip("pyarrow.csv")
parquet = pytest.importorskip("pyarrow.parquet")
openpyxl = pytest.importorskip("openpyxl")

SECRET = "tiger-7-teeth"

HEAD = 1 << 20


class Relay(http.server.ThreadingHTTPServer):
    """Passes requests on to a store. `fault(number, request)` may say what is done instead: "busy", `("cut", bytes)`, or
    `("say", status, page)`."""

    daemon_threads = True

    def __init__(self, port):
        super().__init__(("127.0.0.1", 0), Passing)
        self.port, self.fault, self.asked = port, lambda number, request: None, []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def reads(self):
        """The ranges of objects that were read."""
        return [asked for asked in self.asked if asked[0] == "GET" and asked[2]]


class Passing(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle_one(self):
        relay = self.server
        relay.asked.append((self.command, self.path, self.headers.get("Range")))
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = relay.fault(len(relay.asked) - 1, self)
        if fault == "busy" or fault and fault[0] == "say":
            status, page = (503, b"") if fault == "busy" else fault[1:]
            self.send_response(status)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(page)
            return
        store = http.client.HTTPConnection("127.0.0.1", relay.port)
        headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
        store.request(self.command, self.path, body, headers)
        answer = store.getresponse()
        content = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "content-length", "date", "server"):
                self.send_header(name, value)
        length = answer.getheader("Content-Length") if self.command == "HEAD" else len(content)
        self.send_header("Content-Length", str(length or 0))
        self.end_headers()
        if fault:
            content = content[: fault[1]]
            self.close_connection = True
        self.wfile.write(content)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_one


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(port, process):
    for _ in range(600):
        assert process.poll() is None, "the store does not start"
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the store does not listen")


class S3:
    scheme = "s3"

    def __init__(self, folder):
        self.server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self.server.start()
        self.port = self.server.get_host_and_port()[1]
        self.client = boto3.client(
            "s3",
            endpoint_url=f"http://127.0.0.1:{self.port}",
            aws_access_key_id="ann",
            aws_secret_access_key=SECRET,
            region_name="us-east-1",
        )
        self.client.create_bucket(Bucket="bucket")

    def put(self, key, content):
        self.client.put_object(Bucket="bucket", Key=key, Body=content)

    def environment(self, url):
        return {
            "AWS_ACCESS_KEY_ID": "ann",
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": url,
            "AWS_ALLOW_HTTP": "true",
        }

    def close(self):
        self.server.stop()


class Azure:
    """Azurite, with the account that it always has: its key is in its manual."""

    scheme = "az"
    account = "devstoreaccount1"
    key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

    def __init__(self, folder):
        program = ROOT / "target" / "stores" / "node_modules" / ".bin" / "azurite-blob"
        if not program.exists():
            pytest.skip("no Azurite: scripts/stores.sh")
        self.port = free_port()
        words = ["--silent", "--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry"]
        words += ["--blobHost", "127.0.0.1", "--blobPort", str(self.port)]
        self.process = subprocess.Popen([program, *words], cwd=folder, stdout=subprocess.DEVNULL)
        wait_for(self.port, self.process)
        self.ask("PUT", "/bucket", {"restype": "container"}, b"")

    def ask(self, method, path, query, content, **headers):
        date = dt.datetime.now(dt.timezone.utc).strftime("%a, %d %b %Y %H:%M:%S GMT")
        headers = {"x-ms-date": date, "x-ms-version": "2021-08-06", **headers}
        said = "".join(f"{name}:{value}\n" for name, value in sorted(headers.items()))
        path = f"/{self.account}{urllib.parse.quote(path)}"
        resource = f"/{self.account}{path}" + "".join(f"\n{name}:{value}" for name, value in sorted(query.items()))
        length = str(len(content)) if content else ""
        text = "\n".join([method, "", "", length, "", "", "", "", "", "", "", "", said + resource])
        sign = hmac.new(base64.b64decode(self.key), text.encode(), hashlib.sha256).digest()
        headers["Authorization"] = f"SharedKey {self.account}:{base64.b64encode(sign).decode()}"
        store = http.client.HTTPConnection("127.0.0.1", self.port)
        store.request(method, path + ("?" + urllib.parse.urlencode(query) if query else ""), content, headers)
        answer = store.getresponse()
        assert answer.status == 201, answer.read()
        answer.read()

    def put(self, key, content):
        self.ask("PUT", f"/bucket/{key}", {}, content, **{"x-ms-blob-type": "BlockBlob"})

    def environment(self, url):
        return {
            "AZURE_STORAGE_ACCOUNT_NAME": self.account,
            "AZURE_STORAGE_ACCOUNT_KEY": self.key,
            "AZURE_ENDPOINT": f"{url}/{self.account}",
            "AZURE_ALLOW_HTTP": "true",
        }

    def close(self):
        self.process.terminate()
        self.process.wait()


class Google:
    scheme = "gs"

    def __init__(self, folder):
        program = ROOT / "target" / "stores" / "bin" / "fake-gcs-server"
        if not program.exists():
            pytest.skip("no fake-gcs-server: scripts/stores.sh")
        self.port = free_port()
        words = ["-scheme", "http", "-host", "127.0.0.1", "-port", str(self.port), "-backend", "memory"]
        words += ["-public-host", f"127.0.0.1:{self.port}", "-log-level", "error"]
        self.process = subprocess.Popen([program, *words], cwd=folder, stdout=subprocess.DEVNULL)
        wait_for(self.port, self.process)
        self.ask("/storage/v1/b", b'{"name":"bucket"}')

    def ask(self, path, content):
        store = http.client.HTTPConnection("127.0.0.1", self.port)
        store.request("POST", path, content, {"Content-Type": "application/json"})
        answer = store.getresponse()
        assert answer.status == 200, answer.read()
        answer.read()

    def put(self, key, content):
        name = urllib.parse.quote(key, safe="")
        self.ask(f"/upload/storage/v1/b/bucket/o?uploadType=media&name={name}", content)

    def environment(self, url):
        return {"GOOGLE_BASE_URL": url, "GOOGLE_SKIP_SIGNATURE": "true"}

    def close(self):
        self.process.terminate()
        self.process.wait()


@pytest.fixture(scope="module", params=[S3, pytest.param(Azure, marks=slow), pytest.param(Google, marks=slow)])
def server(request, tmp_path_factory):
    server = request.param(tmp_path_factory.mktemp("store"))
    yield server
    server.close()


@pytest.fixture
def store(server, monkeypatch, tmp_path):
    """The store, by a relay of its own. Bad rows of objects go to the current directory."""
    monkeypatch.chdir(tmp_path)
    server.relay = Relay(server.port)
    for name, value in server.environment(server.relay.url).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield server
    server.relay.shutdown()


LARGE = 40_000


def large():
    """Few rows of many bytes, that no format makes fewer."""
    digests = (hashlib.sha256(b"%d" % one).hexdigest() for one in range(LARGE))
    text = "id,name,x\n" + "".join(f"{one},name of {digest},{one * 3}.5\n" for one, digest in enumerate(digests))
    assert len(text) > 2 * HEAD
    return text.encode()


def load(source, folder, table="t", **options):
    return inrush.load(source, str(folder / "t.db"), table=table, if_exists="replace", progress=False, **options)


def rows_of(folder, table="t"):
    connection = sqlite3.connect(folder / "t.db")
    rows = connection.execute(f'select * from "{table}"').fetchall()
    connection.close()
    return rows


def test_objects_have_the_rows_of_files(store, tmp_path):
    text = large()
    table = csv.read_csv(io.BytesIO(text))
    files = {"a b+c.csv": text, "in.csv.gz": gzip.compress(text), "small.csv": b"id\n1\n2\n"}
    to = io.BytesIO()
    parquet.write_table(table, to, row_group_size=15_000)
    files["in.parquet"] = to.getvalue()
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        store.put(f"2024/{name}", content)
        load(str(tmp_path / name), tmp_path, "file")
        report = load(f"{store.scheme}://bucket/2024/{name}", tmp_path, "object")
        assert report.rows_loaded == len(rows_of(tmp_path, "file"))
        assert rows_of(tmp_path, "object") == rows_of(tmp_path, "file"), name


def test_archives_and_workbooks_are_what_they_are_on_disk(store, tmp_path):
    bucket = f"{store.scheme}://bucket"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("2024/a.csv", "id\n1\n2\n")
        archive.writestr("2024/b.csv", "id\n3\n")
        archive.writestr("read.me", "nothing")
    store.put("z/data.zip", packed.getvalue())
    book = openpyxl.Workbook()
    book.active.append(["id"])
    book.create_sheet("Sheet 2").append(["id"])
    book["Sheet 2"].append([4])
    sheets = io.BytesIO()
    book.save(sheets)
    store.put("z/book.xlsx", sheets.getvalue())
    for source, wanted in [
        (f"{bucket}/z/data.zip", [1, 2, 3]),
        (f"{bucket}/z/data.zip!*/b.csv", [3]),
        (f"{bucket}/z/*.zip!2024/*.csv", [1, 2, 3]),
        (f"{bucket}/z/book.xlsx!Sheet 2", [4]),
    ]:
        store.relay.asked.clear()
        load(source, tmp_path)
        assert [row[0] for row in rows_of(tmp_path)] == wanted, source
        # A pattern is asked for as a name first.
        fetched = [path for _, path, _ in store.relay.reads() if "%2A" not in path]
        assert len(fetched) == 1, store.relay.asked


def test_text_is_read_once_and_columns_by_ranges(store, tmp_path):
    text = large()
    store.put("once.csv", text)
    load(f"{store.scheme}://bucket/once.csv", tmp_path)
    assert len(store.relay.reads()) <= 4, store.relay.asked
    to = io.BytesIO()
    parquet.write_table(csv.read_csv(io.BytesIO(text)), to)
    store.put("once.parquet", to.getvalue())
    store.relay.asked.clear()
    load(f"{store.scheme}://bucket/once.parquet", tmp_path)
    reads = [asked[2].removeprefix("bytes=").split("-") for asked in store.relay.reads()]
    assert len(reads) > 1
    assert sum(int(to) - int(at) + 1 for at, to in reads) < 2 * len(to.getvalue()) + HEAD


def test_patterns_and_folders_are_the_objects_in_them(store, tmp_path):
    for number, key in enumerate(["p/1.csv", "p/2.csv", "p/note.md", "p/.hidden.csv", "p/q/3.csv", "p2/4.csv"]):
        store.put(key, b"id\n%d\n" % number)
    bucket = f"{store.scheme}://bucket"
    for source, wanted in [
        (f"{bucket}/p/*.csv", [0, 1]),
        (f"{bucket}/p/.*.csv", [3]),
        (f"{bucket}/p/?.csv", [0, 1]),
        (f"{bucket}/p*/*.csv", [0, 1, 5]),
        (f"{bucket}/p", [0, 1]),
        (f"{bucket}/p/", [0, 1]),
        (f"{bucket}/p/**", [0, 1, 4]),
        ([f"{bucket}/p/2.csv", f"{bucket}/p/1.csv", f"{bucket}/p/2.csv"], [1, 0]),
    ]:
        load(source, tmp_path)
        found = [row[0] for row in rows_of(tmp_path)]
        assert sorted(found) == sorted(wanted), source
    # A folder is the table's name.
    report = inrush.load(f"{bucket}/p", str(tmp_path / "own.db"), progress=False)
    assert report.rows_loaded == 2
    assert sqlite3.connect(tmp_path / "own.db").execute("select count(*) from p").fetchone() == (2,)


def test_what_is_not_there_is_said_without_secrets(store, tmp_path, monkeypatch):
    bucket = f"{store.scheme}://bucket"
    store.put("there.csv", b"id\n1\n")
    with pytest.raises(inrush.SourceError, match="there is no such object"):
        load(f"{bucket}/none.csv", tmp_path)
    with pytest.raises(inrush.SourceError, match="matches no object"):
        load(f"{bucket}/none*.csv", tmp_path)
    store.put("empty.csv", b"")
    with pytest.raises(inrush.SourceError, match="is empty"):
        load(f"{bucket}/empty.csv", tmp_path)
    for source in [f"{store.scheme}://none/a.csv", f"{store.scheme}:///a.csv", f"{store.scheme}://ann:{SECRET}@bucket/a.csv"]:
        with pytest.raises(inrush.Error) as failure:
            load(source, tmp_path)
        assert SECRET not in str(failure.value)
    if store.scheme == "az":
        for key in [base64.b64encode(SECRET.encode()).decode(), SECRET]:
            monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", key)
            with pytest.raises(inrush.SourceError) as failure:
                load(f"{bucket}/there.csv", tmp_path)
            assert SECRET not in str(failure.value) and key not in str(failure.value)
            assert "AZURE_STORAGE_ACCOUNT_KEY" in str(failure.value)


def test_a_lost_connection_is_taken_up_behind_what_has_come(store, tmp_path):
    text = large()
    store.put("cut.csv", text)
    left = [2]

    def cut(_, request):
        # The request for all that follows, by its last byte or without one.
        start, _, end = (request.headers.get("Range") or "bytes=0-0").removeprefix("bytes=").partition("-")
        if (not end or int(end) - int(start) >= HEAD) and left[0]:
            left[0] -= 1
            return ("cut", 300_000)
        return None

    store.relay.fault = cut
    report = load(f"{store.scheme}://bucket/cut.csv", tmp_path)
    assert report.rows_loaded == LARGE and left == [0]
    assert [row[0] for row in rows_of(tmp_path)] == list(range(LARGE))


def test_a_store_that_is_busy_is_asked_again(store, tmp_path):
    store.put("busy.csv", large())
    store.relay.fault = lambda number, _: "busy" if number in (0, 3) else None
    assert load(f"{store.scheme}://bucket/busy.csv", tmp_path).rows_loaded == LARGE


def test_what_a_store_answers_instead_of_the_object_is_said(store, tmp_path):
    store.put("there.csv", b"id\n1\n")
    page = f"<html><body>Log in, {SECRET}</body></html>".encode()
    for status in (403, 404, 400, 200):
        store.relay.fault = lambda number, _, status=status: ("say", status, page)
        with pytest.raises(inrush.SourceError) as failure:
            load(f"{store.scheme}://bucket/there.csv", tmp_path)
        assert f"{store.scheme}://bucket/there.csv" in str(failure.value), status
        assert SECRET not in str(failure.value), status
    assert not (tmp_path / "t.db").exists()


def test_an_object_that_is_written_again_meanwhile_ends_the_load(store, tmp_path):
    text = large()
    # Of the same length.
    other = text.replace(b"name of", b"Name of")
    for moment in (1, 2, 3):
        store.put("new.csv", text)
        store.relay.asked.clear()
        moments = [moment]

        def write(number, request, moments=moments):
            if moments and request.headers.get("Range") and len(store.relay.reads()) > moments[0]:
                moments.clear()
                store.put("new.csv", other)

        store.relay.fault = write
        with pytest.raises(inrush.SourceError, match="was changed while it was read"):
            load(f"{store.scheme}://bucket/new.csv", tmp_path)
        assert not moments


def test_steps_go_on_in_the_same_object(store, tmp_path):
    text = large()
    store.put("steps.csv", text + b"x,late,1\n")
    source, target = f"{store.scheme}://bucket/steps.csv", str(tmp_path / "steps.db")
    options = {"table": "t", "guarantee": "chunks", "commit_rows": 7_000, "types": {"id": "integer"}, "progress": False}
    with pytest.raises(inrush.RejectedRows):
        inrush.load(source, target, **options)
    report = inrush.load(source, target, resume=True, max_rejects=1, **options)
    found = sqlite3.connect(target).execute("select count(*), count(distinct id) from t").fetchone()
    assert found == (LARGE, LARGE), report
