"""`bouma serve` goes on: 100,000 hostile requests, 64 clients at once, a thousand slow ones.

    hostile.py [REQUESTS]
"""

import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

from served import Server, bouma, check, equal, finish, make_datasets, save

requests = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
work = tempfile.TemporaryDirectory(prefix="serve")
path = make_datasets(work.name)
chance = random.Random(7)
URLS = [
    b"/api/v1", b"/api/v1/run", b"/api/v1/run/1", b"/api/v1/run/last",
    b"/api/v1/run/1/grid/rho/samples?box=0:8,0:8,0:8&level=1&type=u8&low=0&high=1",
    b"/api/v1/run/1/grid/rho/samples?max_bytes=5000&max_points=100&max_error=0.1",
    b"/api/v1/run/2/grid/v/samples?component=1&type=f16&tag=0123456789abcdef",
    b"/api/v1/run/1/grid/rho/ranges?box=0:1,0:1,0:1&component=0",
    b"/api/v1/run/3/dust/particles?box=0:1,0:1,0:1&where=T>300+%26%26+id<5&quality=0.5&from=0.1",
    b"/api/v1/run/3/dust/particles?limit=10&variables=position,T&type=f32&origin=0,0,0",
    b"/api/v1/run/series/grid/rho?at=1,2,3&from=0&to=3&every=2",
    b"/api/v1/run/3/dust/T/histogram?bins=9&low=1&high=2&component=0&max_bytes=0&where=id<9",
    b"/api/v1/run/1/grid/rho/histogram?bins=9&exact=1&box=0:3,0:3,0:3",
    b"/zarr/run/grid/1/.zmetadata", b"/zarr/run@1/grid/0/rho/0.0.0.0", b"/ome/run/grid/rho/0/c/1/0/0/0",
    b"/ome2/run/grid/rho/.zattrs", b"/annotations/run/dust/0/0_0_0", b"/ept/run@3/dust/ept-data/0-0-0-0.bin",
    b"/files/run/", b"/files/run/DATASET", b"/files/run/steps/00000000/manifest",
]
SPICE = [
    b"..", b"%2e%2e", b"%2f", b"%00", b"%", b"%zz", b"//", b"/../", b"-1", b"99999999999999999999", b"1e400",
    b"nan", b"inf", b":", b",,,", b"&", b"==", b"?", b"#", b"+", b"~", b"\xff\xfe", b"\x01", b"%0d%0aX: y",
    b"a" * 500, b"9" * 400, b"&level=0" * 3, b"/t/x", b"%c0%ae", b"[", b"last", b"*", b"(" * 200, b"'", b'"',
]
HEADERS = [
    b"Range: bytes=0-10", b"Range: bytes=-1", b"Range: bytes=99999999999999999999-", b"Range: items=1",
    b"If-None-Match: *", b'If-None-Match: "x', b"Accept-Encoding: zstd;q=nan, gzip;q=", b"Accept-Encoding: gzip",
    b"Authorization: Bearer", b"Authorization: \xff", b"Origin: http://evil.example", b"Host: evil.example",
    b"Content-Length: 5", b"Expect: 100-continue", b"Connection: close", b"Upgrade: h2c", b"If-Range: x",
    b"X: " + b"y" * 9000,
]
ALLOWED = {200, 206, 304, 400, 401, 403, 404, 405, 409, 413, 414, 416, 431, 503, 505}


def mutated():
    url = bytearray(chance.choice(URLS))
    for _ in range(chance.choice((0, 1, 1, 2, 3, 8))):
        at = chance.randrange(len(url) + 1)
        what = chance.randrange(4)
        if what == 0:
            url[at:at] = chance.choice(SPICE)
        elif what == 1:
            del url[at : at + chance.randrange(1, 9)]
        elif what == 2 and at < len(url):
            url[at] = chance.randrange(256)
        else:
            other = chance.choice(URLS)
            url[at:] = other[chance.randrange(len(other)) :]
    return bytes(url).translate(None, b"\r\n \0")


class Client:
    """Raw requests, one after the other on a connection as long as it lasts."""

    def __init__(self, server):
        self.server, self.connection, self.codes = server, None, {}

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def send(self, request, head=False):
        self.connection = self.connection or self.server.socket()
        try:
            self.connection.sendall(request)
            self.receive(head)
        except OSError:
            self.close()

    def receive(self, head):
        data = b""
        while b"\r\n\r\n" not in data:
            more = self.connection.recv(65536)
            if not more:
                self.codes[None] = self.codes.get(None, 0) + 1
                return self.close()
            data += more
        header, body = data.split(b"\r\n\r\n", 1)
        code = int(header.split()[1])
        if code == 100:
            self.codes[100] = self.codes.get(100, 0) + 1
            return self.close()
        self.codes[code] = self.codes.get(code, 0) + 1
        lower = header.lower()
        length = int(lower.split(b"content-length: ")[1].split(b"\r")[0]) if b"content-length: " in lower else None
        if length is None and code not in (204, 304):
            return self.close()  # a stream
        while not head and length and len(body) < length:
            more = self.connection.recv(1 << 20)
            if not more:
                return self.close()
            body += more
        if b"connection: close" in lower:
            self.close()


def hostile(server):
    client = Client(server)
    for i in range(requests):
        url, method = mutated() or b"x", chance.choice((b"GET",) * 8 + (b"HEAD", b"POST"))
        lines = [method + b" " + url + b" HTTP/1.1", b"Host: localhost"]
        if chance.random() < 0.2:
            lines.append(chance.choice(HEADERS))
        client.send(b"\r\n".join(lines) + b"\r\n\r\n", head=method == b"HEAD")
        if i % 50 == 0:  # half requests, noise, those who leave at once
            client.close()
            with server.socket() as noise:
                noise.sendall(chance.choice((bytes(chance.randrange(256) for _ in range(200)), b"GET /",
                                             b"GET /api/v1/run/1/grid/rho/samples HTTP/1.1\r\nHost: localhost\r\n\r\n")))
        if i % 1000 == 0:
            equal(server.ask("/api/v1")[0], 200)
    client.close()
    print("codes:", dict(sorted(client.codes.items(), key=str)))
    check(all(code is None or code in ALLOWED or code == 100 for code in client.codes), client.codes)
    check(client.codes.get(200, 0) > requests / 50, "some are fine")


def many_at_once(server):
    """64 clients, each with its own boxes: all get what a single one gets."""
    urls = [f"/api/v1/run/1/grid/rho/samples?box={i % 20}:20,{i % 8}:24,0:{8 + i % 24}&level={i % 3}" for i in range(64)]
    urls[1::4] = [f"/api/v1/run/3/dust/particles?where=id+>+{50 * i}" for i in range(16)]
    expected = [server.ask(url)[2] for url in urls]
    wrong, finished = [], []

    def work_on(first):
        connection = server.connect()
        for k in range(64):
            i = (first + k) % 64
            code, _, body = server.ask(urls[i], connection=connection)
            if (code, body) != (200, expected[i]):
                wrong.append((urls[i], code))
        connection.close()
        finished.append(first)

    threads = [threading.Thread(target=work_on, args=(i,)) for i in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal((wrong, len(finished)), ([], 64))


def thousand_slow(server, before):
    """Connections that send half a request, or do not read: memory stays small."""
    slow = []
    for i in range(1000):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        connection.bind((f"127.0.0.{2 + i % 8}", 0))
        connection.connect((server.host, server.port))
        request = b"GET /api/v1/run/1/grid/rho/samples HTTP/1.1\r\nHost: localhost\r\n\r\n"
        try:
            connection.sendall(request if i % 2 else request[:40])
        except OSError:
            pass
        slow.append(connection)
    equal(server.ask("/api/v1")[0], 200)
    # 24 KiB for each connection, an answer of 60 KiB for half of them.
    grown = server.memory() - before
    print(f"1000 slow connections: {grown >> 20} MiB more")
    check(grown < 160 << 20, f"{grown} bytes more")
    for connection in slow:
        connection.close()


def hoarders():
    """Clients that ask for all memory and do not read are cut off, and others get theirs."""
    save(f"{work.name}/big.raw", "f", range(1 << 21))
    bouma("import", f"{work.name}/big.raw", "--type", "f32", "--shape", "128,128,128", "--var", "v", "--into",
          f"{work.name}/big.bouma")
    server = Server(f"{work.name}/big.bouma", "--memory", "64M")
    url = "/api/v1/big/0/grid/v/samples"
    slow = []
    while True:
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        connection.connect((server.host, server.port))
        connection.sendall(f"GET {url} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        slow.append(connection)
        if connection.recv(12)[9:] == b"503":
            break
    print(f"{len(slow)} clients take 64 MiB")
    code, headers, body = server.ask(url)
    while code == 503:
        equal(headers["Retry-After"], "1")
        time.sleep(0.5)
        code, headers, body = server.ask(url)
    equal((code, len(body)), (200, 4 << 21))
    check(server.memory() < 160 << 20, f"{server.memory()} bytes are resident")
    for connection in slow:
        connection.close()
    server.end()


# Reading on in a file whose name ends in "slow" takes until there is another one that ends in "slow.go".
SLOW_DISK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
ssize_t pread(int file, void *to, size_t bytes, off_t at)
{
    ssize_t (*own)(int, void *, size_t, off_t) = dlsym(RTLD_NEXT, "pread");
    char link[64], path[4096];
    ssize_t length;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
    length = readlink(link, path, sizeof(path) - 8);
    if (at > 0 && length > 5 && memcmp(path + length - 5, "/slow", 5) == 0) {
        strcpy(path + length, ".go");
        while (access(path, F_OK) != 0)
            usleep(1000);
    }
    return own(file, to, bytes, at);
}
ssize_t pread64(int file, void *to, size_t bytes, off_t at)
{
    return pread(file, to, bytes, at);
}
"""


def slow_disk():
    """While storage does not answer, the file of one client is not there, and others get their answers."""
    compiler = shutil.which("cc")
    if not compiler:
        return print("no C compiler: a slow disk is not tried")
    with open(f"{work.name}/disk.c", "w") as file:
        file.write(SLOW_DISK)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", f"{work.name}/disk.so", f"{work.name}/disk.c", "-ldl"], check=True)
    contents = random.Random(1).randbytes(3 << 20)
    with open(f"{path}/slow", "wb") as file:
        file.write(contents)
    os.environ["LD_PRELOAD"] = f"{work.name}/disk.so"
    server = Server(path, "--workers", 2, "--max-answer", "64K")
    del os.environ["LD_PRELOAD"]
    got = []
    waiting = threading.Thread(target=lambda: got.append(server.ask("/files/run/slow")[2]))
    waiting.start()
    for _ in range(100):
        equal(server.ask("/api/v1/run")[0], 200)
    equal(got, [], "it waits")
    with open(f"{path}/slow.go", "w"):
        pass
    waiting.join()
    check(got == [contents], "it is sent after all")
    server.end()
    os.remove(f"{path}/slow")
    os.remove(f"{path}/slow.go")


slow_disk()


server = Server(path, "--connections", 2048)
hostile(server)
many_at_once(server)
after = server.memory()
print(f"resident: {after >> 20} MiB")
check(after < 400 << 20, f"{after} bytes are resident")
thousand_slow(server, after)
equal(len(server.ask("/api/v1/run/1/grid/rho/samples")[2]), 4 * 20 * 24 * 32)
server.end()
hoarders()
finish()
