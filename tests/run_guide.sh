#!/usr/bin/env bash
# run_guide.sh BUILD [PAGE...] -- run every shell snippet of README.md, of the guide and
# of the pages beside it, page by page, each in an empty directory. A snippet is a block
# that begins with ```sh; a program is a block that begins with ```c NAME.c, ```cpp
# NAME.cpp, ```f90 NAME.f90 or ```python NAME.py, and is written to that file. A line that
# begins with "! " must fail. A page that begins with a comment "needs: COMMAND" is skipped
# where this command fails, and a snippet below a comment "if: COMMAND" as well.
set -euo pipefail
build=$(cd "$1" && pwd)
shift
pages=("$@")
source=$(cd "$(dirname "$0")/.." && pwd)
cd "$source"
[ $# -gt 0 ] || mapfile -t pages < <(grep -l '^```sh$' README.md docs/*.md docs/guide/*.md)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_rmaps_base_oversubscribe=1
export PATH=$build/bin:$PATH
export PYTHONPATH=$build/python:$source/bindings/paraview:$source/bindings/paraview/python311
export PYTHONDONTWRITEBYTECODE=1
python=${PYTHON:-/usr/bin/python3}

"$python" - "${pages[@]/#/$source/}" <<'END' >/dev/null
import sys
for path in sys.argv[1:]:
    text = open(path).read()
    assert text.count("```") % 2 == 0, f"{path}: a block is not closed"
END

all=$(mktemp -d)
trap 'rm -rf "$all"' EXIT
mkdir "$all/bin"
ln -s "$python" "$all/bin/python3"
export PATH=$all/bin:$PATH
for page in "${pages[@]}"; do
    work=$all/${page%.md}
    mkdir -p "$work"
    needs=$(sed -n 's/^<!-- needs: \(.*\) -->$/\1/p' "$source/$page")
    if [ -n "$needs" ] && ! eval "$needs"; then
        echo "== $page: skipped, as this fails: $needs"
        [ ${#pages[@]} -gt 1 ] || exit 77
        continue
    fi
    # What the snippets take for granted: the library, and python with NumPy.
    cat >"$work/snippets.sh" <<END
set -euo pipefail
cc() { command cc -Wall -Wextra -Werror "\$@" -I"$source/include" -L"$build" -Wl,-rpath,"$build"; }
mpicc() { command mpicc -Wall -Wextra -Werror "\$@" -I"$source/include" -L"$build" -Wl,-rpath,"$build"; }
g++() { command g++ -Wall -Wextra -Werror "\$@" -I"$source/include" -L"$build" -Wl,-rpath,"$build"; }
gfortran() { command gfortran -Wall -Werror -I"$build/fortran" "\$@" -L"$build" -Wl,-rpath,"$build"; }
mpifort() { command mpifort -Wall -Werror -I"$build/fortran" "\$@" -L"$build" -Wl,-rpath,"$build"; }
END
    "$python" - "$source/$page" "$work" <<'END' >>"$work/snippets.sh"
import re, sys
page, work = sys.argv[1:]
for test, head, body in re.findall(r"^(?:<!-- if: (.*) -->\n+)?```(\S.*)\n((?:.*\n)*?)```$", open(page).read(), re.M):
    words = head.split()
    if words[0] in ("c", "cpp", "f90", "python") and len(words) > 1:
        open(f"{work}/{words[1]}", "w").write(body)
    elif words == ["sh"]:
        # bash -e goes on after "! true"; its status tells.
        body = re.sub(r"^(! .*[^\\])$", r"\1\n[ $? = 0 ]", body, flags=re.M)
        print(f"if {test}; then\n{body}else echo 'skipped: {test}'; fi" if test else body)
END
    echo "== $page: $(grep -c . "$work/snippets.sh") lines"
    (cd "$work" && bash -x snippets.sh)
done
