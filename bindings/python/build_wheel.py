"""build_wheel.py -- what pip and build call to make the wheel and the sdist (PEP 517).

It builds libbouma by CMake, without MPI, and packs it with the libraries that it needs
and the sources of the package: one wheel for every Python 3 on a processor. CMake, a C
compiler, pkg-config and the headers of zstd, zfp and xxHash must be there. The sdist has the
sources of the library and of the package."""
import base64
import glob
import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# What every Linux has; all else goes into the wheel.
SYSTEM = re.compile(r"(linux-vdso|ld-linux[\w-]*|lib(c|m|dl|rt|pthread))\.so")
NEEDS = "CMake, a C compiler, pkg-config and the headers of zstd, zfp and xxHash are needed to build libbouma"
# What the wheel is built from.
SOURCES = ("CMakeLists.txt", "LICENSE", "README.md", "cmake/*", "docs/api.py", "include/*.h", "include/*.hpp",
           "src/*/*.[ch]", "bindings/python/*.py", "bindings/python/*.toml", "bindings/python/CMakeLists.txt",
           "bindings/python/bouma/*.py", "bindings/python/bouma/py.typed")


def project():
    try:
        import tomllib
    except ImportError:
        import tomli as tomllib
    with open(os.path.join(HERE, "pyproject.toml"), "rb") as f:
        found = tomllib.load(f)["project"]
    with open(os.path.join(ROOT, "include", "bouma_base.h"), encoding="utf-8") as f:
        found["version"] = ".".join(re.findall(r"#define BOUMA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", f.read()))
    return found


def metadata(about):
    lines = ["Metadata-Version: 2.1", "Name: " + about["name"], "Version: " + about["version"],
             "Summary: " + about["description"], "License: " + about["license"],
             "Requires-Python: " + about["requires-python"]]
    lines += ["Requires-Dist: " + one for one in about["dependencies"]]
    for extra, needs in about.get("optional-dependencies", {}).items():
        lines.append("Provides-Extra: " + extra)
        lines += ["Requires-Dist: %s; extra == '%s'" % (one, extra) for one in needs]
    return "\n".join(lines) + "\n"


def entry_points(about):
    text = ""
    for group, entries in about.get("entry-points", {}).items():
        text += "[%s]\n" % group + "".join("%s = %s\n" % one for one in entries.items()) + "\n"
    return text


def run(*command):
    print("+", " ".join(command), flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit("%s\nbuild_wheel.py: this failed: %s\n%s" % (done.stdout, " ".join(command), NEEDS))
    return done.stdout


def build(folder):
    """Build the library and the package; it looks for its needs beside itself."""
    if shutil.which("cmake") is None:
        sys.exit("build_wheel.py: there is no cmake. " + NEEDS)
    off = ["-DBOUMA_%s=OFF" % one for one in ("MPI", "TOOLS", "EXAMPLES", "TESTS", "BENCH", "HWLOC", "FORTRAN")]
    ninja = ["-G", "Ninja"] if shutil.which("ninja") else []
    run("cmake", "-S", ROOT, "-B", folder, *ninja, "-DCMAKE_BUILD_TYPE=Release", *off,
        "-DPython3_EXECUTABLE=" + sys.executable, "-DCMAKE_INSTALL_RPATH=$ORIGIN",
        "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON", "-DCMAKE_SHARED_LINKER_FLAGS=-Wl,--disable-new-dtags -Wl,-s")
    run("cmake", "--build", folder, "--parallel", str(os.cpu_count() or 1), "--target", "bouma", "bouma_python")


def libraries(folder):
    """libbouma, by the name that the package loads, and all that it needs: {name: path}."""
    main = [one for one in glob.glob(os.path.join(folder, "libbouma.so.*")) if not re.search(r"\d+\.\d+\.\d+$", one)]
    found = {os.path.basename(main[0]): main[0]}
    for name, path in re.findall(r"(\S+) => (/\S+)", run("ldd", main[0])):
        if not SYSTEM.match(name):
            found[name] = path
    return found


def tag(paths):
    """The platform: the C library must be as new as the newest symbol that is used."""
    newest = (2, 17)
    for path in paths:
        with open(path, "rb") as f:
            for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", f.read()):
                newest = max(newest, (int(major), int(minor)))
    processor = sysconfig.get_platform().split("-", 1)[1].replace("-", "_").replace(".", "_")
    return "py3-none-manylinux_%d_%d_%s" % (newest + (processor,))


class Wheel:
    """The archive, with a record of what is in it."""

    def __init__(self, path):
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.record = []

    def add(self, name, data):
        info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))  # the same bytes each time
        info.external_attr = (0o755 if ".so" in name else 0o644) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        self.archive.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append("%s,sha256=%s,%d" % (name, digest, len(data)))

    def end(self, folder):
        name = folder + "/RECORD"
        self.add(name, "\n".join(self.record + [name + ",,", ""]).encode())
        self.archive.close()


def contents(path):
    with open(path, "rb") as f:
        return f.read()


def api_module(package):
    """In a wheel the libraries are in the folder lib of the package."""
    text = contents(os.path.join(package, "_api.py")).decode()
    return re.sub(r"^LIBRARIES: str = .*$", "LIBRARIES: str = 'lib'", text, flags=re.M).encode()


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    about = project()
    name = "%s-%s.dist-info" % (about["name"], about["version"])
    os.mkdir(os.path.join(metadata_directory, name))
    for base, text in described(about).items():
        with open(os.path.join(metadata_directory, name, base), "w", encoding="utf-8") as f:
            f.write(text)
    return name


def described(about):
    """The files that describe the package: {name: text}."""
    found = {"METADATA": metadata(about)}
    if entry_points(about):
        found["entry_points.txt"] = entry_points(about)
    return found


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    about = project()
    with tempfile.TemporaryDirectory() as folder:
        build(folder)
        package = os.path.join(folder, "python", "bouma")
        some = libraries(folder)
        kind = tag(some.values())
        stem = "%s-%s" % (about["name"], about["version"])
        name = "%s-%s.whl" % (stem, kind)
        wheel = Wheel(os.path.join(wheel_directory, name))
        for path in sorted(glob.glob(os.path.join(package, "*.py")) + [os.path.join(package, "py.typed")]):
            base = os.path.basename(path)
            wheel.add("bouma/" + base, api_module(package) if base == "_api.py" else contents(path))
        for base, path in sorted(some.items()):
            wheel.add("bouma/lib/" + base, contents(path))
        info = stem + ".dist-info"
        for base, text in described(about).items():
            wheel.add(info + "/" + base, text.encode())
        wheel.add(info + "/WHEEL", ("Wheel-Version: 1.0\nGenerator: bouma\nRoot-Is-Purelib: false\nTag: %s\n"
                                    % kind).encode())
        wheel.add(info + "/LICENSE", contents(os.path.join(ROOT, "LICENSE")))
        wheel.end(info)
    return name


def build_sdist(sdist_directory, config_settings=None):
    about = project()
    stem = "%s-%s" % (about["name"], about["version"])
    files = {"PKG-INFO": metadata(about).encode(), "pyproject.toml": top_pyproject()}
    for pattern in SOURCES:
        found = glob.glob(os.path.join(ROOT, pattern))
        if not found:
            sys.exit("build_wheel.py: there is no %s in %s" % (pattern, ROOT))
        files.update((os.path.relpath(path, ROOT), contents(path)) for path in found)
    name = stem + ".tar.gz"
    with open(os.path.join(sdist_directory, name), "wb") as raw, \
            gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, data in sorted(files.items()):
            info = tarfile.TarInfo("%s/%s" % (stem, path))  # the same bytes each time
            info.size, info.mtime = len(data), 1577836800
            archive.addfile(info, io.BytesIO(data))
    return name


def top_pyproject():
    """At the top of an sdist; this file stays where it is."""
    text = contents(os.path.join(HERE, "pyproject.toml")).decode()
    made = text.replace('backend-path = ["."]', 'backend-path = ["bindings/python"]')
    assert made != text
    return made.encode()


def describe(folder):
    """Write the files that describe the package, for a build tree or an installation."""
    os.makedirs(folder, exist_ok=True)
    for base, text in described(project()).items():
        with open(os.path.join(folder, base), "w", encoding="utf-8") as f:
            f.write(text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: build_wheel.py FOLDER.dist-info")
    describe(sys.argv[1])
