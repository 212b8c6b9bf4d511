#!/usr/bin/python3
"""terminal.py WHERE COMMAND... -- run a command on a terminal, and look at it.

WHERE says what is the terminal: "err" standard error, "out" standard output,
"both" the two of them. What is not goes to the files .out and .err. The status
is the command's. Left behind are

    .raw      every byte that came to the terminal
    .screen   the lines that can be seen on it in the end
"""
import os
import pty
import re
import subprocess
import sys
import termios


def screen_of(raw):
    """The lines on a terminal that knows CR, LF, erase to the end of the line,
    and colors."""
    lines, row, column = [""], 0, 0
    for part in re.findall(r"\r|\n|\x1b\[[0-9;]*[A-Za-z]|[^\r\n\x1b]+", raw):
        if part == "\r":
            column = 0
        elif part == "\n":
            row, column = row + 1, 0
            lines.append("")
        elif part == "\x1b[K":
            lines[row] = lines[row][:column]
        elif part[0] == "\x1b":
            assert part[-1] == "m", "unknown sequence %r" % part
        else:
            line = lines[row].ljust(column)
            lines[row] = line[:column] + part + line[column + len(part):]
            column += len(part)
    return "\n".join(lines)


def run(where, command):
    master, slave = pty.openpty()
    mode = termios.tcgetattr(slave)
    mode[1] &= ~termios.OPOST  # bytes arrive as they were written
    termios.tcsetattr(slave, termios.TCSANOW, mode)
    with open(".out", "wb") as out, open(".err", "wb") as err:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out if where == "err" else slave,
            stderr=err if where == "out" else slave)
    os.close(slave)
    raw = b""
    while True:
        try:
            some = os.read(master, 4096)
        except OSError:  # nobody has the other end open any more
            break
        if not some:
            break
        raw += some
    os.close(master)
    return child.wait(), raw.decode()


status, raw = run(sys.argv[1], sys.argv[2:])
with open(".raw", "w", newline="") as f:
    f.write(raw)
with open(".screen", "w") as f:
    f.write(screen_of(raw))
sys.exit(status)
