"""Who may ask `bouma serve`, and how clients get along: tokens, names, origins, slow
and broken ones, events, the end."""

import json
import os
import signal
import socket
import subprocess
import tempfile

from served import BOUMA, Server, add_step, check, equal, finish, make_datasets, unpack, wait_until

work = tempfile.TemporaryDirectory(prefix="serve")
path = make_datasets(work.name)
SAMPLES = "/api/v1/run/1/grid/rho/samples"
TOKEN = "correct-horse_1"


def tokens():
    server = Server(path, "--token", TOKEN)
    equal(server.url.split("/", 3)[3], f"t/{TOKEN}/")
    code, headers, body = server.ask("/api/v1")
    equal((code, headers["WWW-Authenticate"]), (401, "Bearer"))
    equal(json.loads(body)["error"]["code"], 401)
    for wrong in ("x", TOKEN[:-1], TOKEN + "1", TOKEN.upper()):
        equal(server.ask("/api/v1", Authorization="Bearer " + wrong)[0], 401)
        equal(server.ask("/api/v1?token=" + wrong)[0], 401)
        equal(server.ask(f"/t/{wrong}/api/v1")[0], 401)
    equal(server.ask("/api/v1", Authorization="Basic " + TOKEN)[0], 401)
    equal(server.ask(f"/t/{TOKEN}")[0], 404)
    equal(server.ask("/api/v1", Authorization="Bearer " + TOKEN)[0], 200)
    equal(server.ask("/api/v1?token=" + TOKEN)[0], 200)
    # One of several is enough: a proxy on the way may have a header of its own.
    for more in (TOKEN, "of-another-server"):
        equal(server.ask(f"/t/{TOKEN}/api/v1", Authorization="Bearer " + more)[0], 200)
        equal(server.ask(f"/api/v1?token={TOKEN}", Authorization="Bearer " + more)[0], 200)
    equal(server.ask("/t/wrong-wrong/api/v1?token=wrong-wrong", Authorization="Bearer wrong-wrong")[0], 401)
    code, headers, body = server.ask("/?token=" + TOKEN)
    equal((code, headers["Location"], headers["Cache-Control"], body), (302, f"t/{TOKEN}/", "no-store", b""))
    equal(server.ask("/?token=" + TOKEN.upper())[0], 401)
    equal(server.ask(f"/t/{TOKEN}/?token={TOKEN}")[0], server.ask(f"/t/{TOKEN}/")[0])
    code, headers, _ = server.ask(f"/t/{TOKEN}{SAMPLES}")
    equal((code, headers["Cache-Control"]), (200, "private, no-cache"))
    for target in (f"http://127.0.0.1/t/{TOKEN}/api/v1", f"/api/v1?%74oken={TOKEN}", f"/%74/{TOKEN}/api/v1",
                   f"/api/v1?tag=1&token={TOKEN}"):
        answer = raw(server, target.encode().join((b"GET ", b" HTTP/1.1\r\nHost: localhost\r\n\r\n")))
        check(answer.startswith(b"HTTP/1.1 200 "), answer)
    raw(server, f"GET /t/{TOKEN}/api/v1 HTTP/1.1\r\nHost localhost\r\n\r\n".encode())  # broken
    log = server.end()
    check(TOKEN not in log and "/t/***/api/v1" in log, "the token is not in the log")
    for args, message in (
        (("--bind", "0.0.0.0"), "--token"),
        (("--token", "short"), "8 to 200"),
        (("--token", TOKEN, "--public"), "combined"),
        (("--bind", "203.0.113.5", "--public"), "cannot listen at 203.0.113.5"),
        (("--port", "65536"), "65535"),
    ):
        done = subprocess.run([BOUMA, "serve", path, *args], capture_output=True)
        equal(done.returncode, 2, args)
        check(message in done.stderr.decode(), done.stderr)


def what_is_missing_is_told():
    server = Server(path)
    taken = subprocess.run([BOUMA, "serve", path, "--port", str(server.port)], capture_output=True)
    equal(taken.returncode, 2)
    check("in use; --port 0 takes any that is free" in taken.stderr.decode(), taken.stderr)
    check("the viewer is at /" in server.ask("/run")[2].decode(), "a path that is not there")
    server.end()
    with tempfile.TemporaryDirectory() as directory:
        check("there is no dataset yet" in Server(directory).end(), "an empty directory")


def names_and_origins():
    server = Server(path, "--host", "lab.example", "--allow-origin", "https://page.example")
    for host, code in (("evil.example", 403), ("lab.example", 200), ("lab.example:99", 200),
                       ("localhost", 200), ("127.0.0.1.evil.example", 403)):
        equal(server.ask("/api/v1", Host=host)[0], code, host)
    for origin, code in (("https://page.example", 200), ("http://localhost:5173", 200),
                         ("https://evil.example", 403), ("null", 403)):
        status, headers, _ = server.ask(SAMPLES, Origin=origin)
        equal(status, code, origin)
        equal(headers["Access-Control-Allow-Origin"], origin if code == 200 else None)
    check("Bouma-Shape" in server.ask(SAMPLES, Origin="http://localhost")[1]["Access-Control-Expose-Headers"],
          "headers are exposed")
    code, headers, _ = server.ask(SAMPLES, "OPTIONS", Origin="https://page.example",
                                  Access_Control_Request_Headers="range")
    equal(code, 204)
    check("Range" in headers["Access-Control-Allow-Headers"], "a range may be asked for")
    code, headers, _ = server.ask("/api/v1")
    equal((headers["X-Content-Type-Options"], headers["Referrer-Policy"],
           headers["Cross-Origin-Resource-Policy"]), ("nosniff", "no-referrer", "same-origin"))
    check("default-src 'none'" in headers["Content-Security-Policy"], "a policy")
    server.end()


def raw(server, request):
    """The answer to what may be no request; b"" if there is none."""
    with server.socket() as connection:
        answer = b""
        try:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            while more := connection.recv(65536):
                answer += more
        except OSError:
            pass
        return answer


LOCAL = b" HTTP/1.1\r\nHost: localhost\r\n"


def broken(server):
    """What is no request ends its connection, and harms no other. What libmicrohttpd refuses gets its page, or nothing."""
    for request, codes in (
        (b"\0" * 100, ()),
        (b"\x16\x03\x01\x02\x00\x01\x00", ()),
        (b"GET\r\n\r\n", ()),
        (b"GET / HTTP/9.9\r\n\r\n", (b"505",)),
        (b"GET /api/v1 HTTP/1.1\r\nHost localhost\r\n\r\n", (b"400",)),
        (b"GET /api/v1" + LOCAL + b"X: " + b"a" * 100000 + b"\r\n\r\n", (b"431",)),
        (b"GET /" + b"a" * 100000 + LOCAL + b"\r\n", (b"414",)),
        (b"GET /api/v1?" + b"&".join(b"a%d" % i for i in range(10000)) + LOCAL + b"\r\n", (b"414", b"431")),
        (b"GET /api/v1?" + b"&".join(b"a" for i in range(4000)) + LOCAL + b"\r\n", (b"414", b"431")),
        (b"GET /api/v1" + LOCAL + b"Content-Length: -5\r\n\r\n", (b"400",)),
        (b"GET /api/v1" + LOCAL + b"Range: bytes=0-\r\n", ()),
    ):
        answer = raw(server, request)
        check(answer == b"" or answer.split()[1] in codes, request[:60] + b" -> " + answer[:60])
        check(b"Content-Type: text/html" not in answer, "nothing that a browser shows")
        equal(server.ask("/api/v1")[0], 200)


def refused(server):
    """What is HTTP, but odd, gets a short JSON error, and the connection ends if it could be taken for two requests."""
    second = b"GET /api/v1/run" + LOCAL + b"\r\n"
    for request, code, ends in (
        (b"GET /api/v1 HTTP/1.1\r\n\r\n", b"400", False),
        (b"GET http://evil.example/" + LOCAL + b"\r\n", b"403", False),
        (b"GET http:///api/v1" + LOCAL + b"\r\n", b"400", False),
        (b"GET http://" + b"a" * 300 + b"/" + LOCAL + b"\r\n", b"400", False),
        (b"GET ftp://localhost/api/v1" + LOCAL + b"\r\n", b"400", False),
        (b"GET *" + LOCAL + b"\r\n", b"400", False),
        (b"GET /api/v1" + LOCAL + b"Host: evil.example\r\n\r\n", b"400", True),
        (b"GET /api/v1" + LOCAL + b"Content-Length: 99999999999\r\n\r\n", b"400", True),
        (b"GET /api/v1" + LOCAL + b"Content-Length: 0\r\nContent-Length: 40\r\n\r\n", b"400", True),
        (b"GET /api/v1" + LOCAL + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"400", True),
        (b"POST /api/v1" + LOCAL + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", b"400", True),
        (b"GET /api/v1" + LOCAL + b"X: " + b"a" * 9000 + b"\r\n\r\n", b"431", True),
        (b"GET /a\x01\x02\xff" + LOCAL + b"\r\n", b"404", False),
        (b"GET /files/run/%c0%ae%c0%ae/run.bouma/DATASET" + LOCAL + b"\r\n", b"404", False),
        (b"GET /files/run/%00" + LOCAL + b"\r\n", b"400", False),
        (b"GET /api/v1/<script>alert(1)</script>" + LOCAL + b"\r\n", b"404", False),
        (b"GET /api/v1?" + b"&".join(b"a%d" % i for i in range(50)) + LOCAL + b"\r\n", b"400", False),
        (b"GET /api/v1?tag=1&tag=1" + LOCAL + b"\r\n", b"400", False),
        (b"GET /api/v1/run/3/dust/particles?where=" + b"(" * 7000 + LOCAL + b"\r\n", b"400", False),
        (b"GET /api/v1/run/3/dust/particles?where=" + b"!" * 7000 + b"T" + LOCAL + b"\r\n", b"400", False),
    ):
        answer = raw(server, request + second)
        lines = answer.split(b"\r\n")
        equal(lines[0].split()[1], code, request[:70])
        check(b"Content-Type: application/json" in lines and b"X-Content-Type-Options: nosniff" in lines, answer)
        equal((answer.count(b"HTTP/1.1 "), b"Connection: close" in lines), (1, True) if ends else (2, False), request[:70])
    ranges = b",".join(b"%d-%d" % (i, i) for i in range(1000))
    answer = raw(server, b"GET " + SAMPLES.encode() + LOCAL + b"Range: bytes=" + ranges + b"\r\n\r\n")
    check(answer.startswith(b"HTTP/1.1 200 "), "a list of ranges is not honoured")


def forms(server):
    """HTTP/1.0, several requests at once, and targets with a name in them are fine."""
    answer = raw(server, b"GET /api/v1 HTTP/1.0\r\n\r\n")
    check(answer.startswith(b"HTTP/1.1 200 ") and b"Connection: close" in answer and b"chunked" not in answer, answer)
    answer = raw(server, b"GET HTTP://LocalHost:80/api/v1/run" + LOCAL + b"\r\nGET http://127.0.0.1" + LOCAL + b"\r\n")
    check(answer.startswith(b"HTTP/1.1 200 ") and b'"name":"run"' in answer, answer)
    urls = [f"{SAMPLES}?box=0:{i},:,:".encode() for i in range(1, 15)]
    answer = raw(server, b"".join(b"GET " + url + LOCAL + b"\r\n" for url in urls))
    lengths = [int(part.split(b"\r\n")[0]) for part in answer.split(b"Content-Length: ")[1:]]
    equal(lengths, [4 * i * 24 * 32 for i in range(1, 15)], "answers in order")
    with server.socket() as connection:  # HEAD without a length, and what follows it
        connection.sendall(b"HEAD /api/v1/run/3/dust/particles" + LOCAL + b"\r\n")
        answer = b""
        while more := connection.recv(65536):
            answer += more
    check(answer.endswith(b"\r\n\r\n") and answer.count(b"\r\n\r\n") == 1, "there is no body")


def slow(server):
    """Others get their answers while half requests, and readers that do not read, are open."""
    open_ones = []
    for i in range(100):
        connection = server.socket()
        connection.sendall((b"GET /api/v1/run HTTP/1.1\r\nHost: local" * 2)[: 10 + i % 50])
        open_ones.append(connection)
    for _ in range(20):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        connection.connect((server.host, server.port))
        for _ in range(20):  # they are answered one after the other
            connection.sendall(f"GET {SAMPLES} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        open_ones.append(connection)
    body = server.ask(SAMPLES)[2]
    equal(len(body), 4 * 20 * 24 * 32)
    for _ in range(50):
        equal(server.ask(SAMPLES)[2], body)
    for connection in open_ones:
        connection.close()


def one_after_the_other(server):
    """A connection is kept for many requests."""
    connection = server.connect()
    first = None
    for i in range(20):
        server.ask(f"{SAMPLES}?level={i % 3}", connection=connection)
        first = first or connection.sock
        check(connection.sock is first, "the connection is kept")
    connection.close()


def next_event(stream):
    name = data = None
    while True:
        line = stream.readline().decode().rstrip("\n")
        if line.startswith("event: "):
            name = line[7:]
        elif line.startswith("data: "):
            data = json.loads(line[6:])
        elif line == "" and name:
            return name, data


def events(server):
    """A step that is committed is told, and can be read; so are others."""
    connection = server.connect()
    connection.request("GET", "/api/v1/run/events")
    stream = connection.getresponse()
    equal((stream.status, stream.headers["Content-Type"]), (200, "text/event-stream"))
    equal(next_event(stream), ("steps", {"steps": [0, 1, 2, 3], "times": [0, 0.25, 2, 3]}))
    add_step(path, 7)
    equal(next_event(stream), ("step", {"step": 7, "time": 1.75}))
    equal(len(server.ask("/api/v1/run/7/grid/rho/samples")[2]), 4 * 20 * 24 * 32)
    add_step(path, 1, "--replace")
    equal(next_event(stream), ("step", {"step": 1, "time": 0.25}))
    subprocess.run([BOUMA, "delete-step", path, "7"], capture_output=True, check=True)
    equal(next_event(stream), ("removed", {"step": 7, "time": 1.75}))
    equal(server.ask("/api/v1/run/7")[0], 404)
    return connection, stream


def directory():
    """Datasets that come later are found; those of one name have two."""
    os.makedirs(f"{work.name}/more/one")
    os.symlink(path, f"{work.name}/more/first.bouma")
    server = Server(f"{work.name}/more", path, path.replace("run.bouma", "more/first.bouma"))
    equal([d["name"] for d in server.json("/api/v1")["datasets"]], ["first", "run"])
    add_step(f"{work.name}/more/new.bouma", 0)
    wait_until(lambda: server.ask("/api/v1/new")[0] == 200, "a new dataset")
    equal(server.json("/api/v1/new")["steps"], [0])
    server.end(signal.SIGTERM)


tokens()
what_is_missing_is_told()
names_and_origins()
server = Server(path)
broken(server)
refused(server)
forms(server)
slow(server)
one_after_the_other(server)
connection, stream = events(server)
half = server.socket()
half.sendall(b"GET /")
log = server.end()  # with a listener and half a request
for line in ("response code is 505)", "response code is 431)", '"? /api/v1" 0 0', '"GET /api/v1" 431', '"GET /a\\x01\\x02\\xff" 404'):
    check(line in log, f"{line} is logged")
check("<html>" not in log, "pages are not")
equal(stream.read(), b"")
directory()
finish()
