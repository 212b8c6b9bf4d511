"""A server on small datasets, and requests to it: for the tests of `bouma serve`."""

import array
import atexit
import http.client
import json
import math
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time

BOUMA = os.environ["BOUMA"]
SHAPE = (20, 24, 32)
PARTICLES = 3000
failures = []


def check(claim, what):
    if not claim:
        frame = sys._getframe(1)
        failures.append(what)
        print(f"{os.path.basename(__file__)}: line {frame.f_lineno} of {frame.f_code.co_name}: {what}")


def equal(a, b, what=""):
    if a != b:
        frame = sys._getframe(1)
        failures.append(what)
        print(f"line {frame.f_lineno} of {frame.f_code.co_name}: {str(a)[:300]} is not {str(b)[:300]} {what}")


def bouma(*args):
    done = subprocess.run([BOUMA, *map(str, args)], capture_output=True)
    if done.returncode:
        raise SystemExit(f"bouma {args}: {done.stderr.decode()}")
    return done.stdout


def save(path, code, values):
    with open(path, "wb") as file:
        array.array(code, values).tofile(file)


def field(step):
    nz, ny, nx = SHAPE
    return [
        math.sin(x / 5 + step) + math.cos(y / 7) * z / nz
        for z in range(nz)
        for y in range(ny)
        for x in range(nx)
    ]


def add_step(path, step, *options):
    """A step with a grid, of a number and a vector."""
    work = os.path.dirname(path)
    shape = ",".join(map(str, SHAPE))
    values = field(step)
    save(f"{work}/rho.raw", "f", values)
    bouma("import", f"{work}/rho.raw", "--type", "f32", "--shape", shape, "--patch", 16, "--var", "rho",
          "--step", step, "--time", step / 4, "--into", path, *options)


def make_datasets(work):
    """run.bouma: steps 0 and 1 have a grid, step 2 a vector, step 3 particles."""
    path = f"{work}/run.bouma"
    add_step(path, 0)
    add_step(path, 1)
    shape = ",".join(map(str, SHAPE))
    save(f"{work}/v.raw", "d", [c * value for value in field(2) for c in (1, 2, 3)])
    bouma("import", f"{work}/v.raw", "--type", "f64", "--components", 3, "--shape", shape, "--patch", 16,
          "--var", "v", "--step", 2, "--into", path)
    chance = random.Random(1)
    save(f"{work}/x.raw", "d", [chance.random() for _ in range(3 * PARTICLES)])
    save(f"{work}/T.raw", "f", [chance.gauss(300, 50) for _ in range(PARTICLES)])
    save(f"{work}/id.raw", "q", range(PARTICLES))
    bouma("import", "--particles", "dust", "--column", f"position:f64:3={work}/x.raw", "--column",
          f"T:f32={work}/T.raw", "--column", f"id:i64={work}/id.raw", "--step", 3, "--into", path)
    return path


class Server:
    """`bouma serve`, from its start to SIGINT."""

    def __init__(self, *args, log=None):
        self.log = tempfile.TemporaryFile() if log is None else log
        self.process = subprocess.Popen([BOUMA, "serve", "--port", "0", *map(str, args)],
                                        stdout=subprocess.PIPE, stderr=self.log)
        atexit.register(self.process.kill)  # if the test does not come to its end
        self.url = self.process.stdout.readline().decode().strip()
        if not self.url:
            self.process.wait()
            self.log.seek(0)
            raise SystemExit(f"the server has not started: {self.log.read().decode()}")
        self.host, port = self.url.split("/")[2].split(":")
        self.port = int(port)

    def connect(self):
        return http.client.HTTPConnection(self.host, self.port)

    def socket(self):
        return socket.create_connection((self.host, self.port))

    def ask(self, path, method="GET", connection=None, **headers):
        """Code, headers and body."""
        own = connection or self.connect()
        own.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = own.getresponse()
        body = answer.read()
        if not connection:
            own.close()
        return answer.status, answer.headers, body

    def json(self, path, code=200, **headers):
        status, _, body = self.ask(path, **headers)
        equal(status, code, path)
        return json.loads(body)

    def memory(self):
        """Resident bytes."""
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def end(self, how=signal.SIGINT):
        self.process.send_signal(how)
        status = self.process.wait(timeout=600)
        self.process.stdout.close()
        self.log.seek(0)
        text = self.log.read().decode(errors="replace")
        if status:
            print(text[-3000:])
        equal(status, 0, "the status at the end")
        return text


def unpack(code, body):
    values = array.array(code)
    values.frombytes(body)
    return values.tolist()


def wait_until(claim, what):
    """As long as the test may run at all: there is no shorter limit."""
    while not claim():
        time.sleep(0.05)
    return what


def finish():
    print(f"{len(failures)} failed")
    sys.exit(1 if failures else 0)
