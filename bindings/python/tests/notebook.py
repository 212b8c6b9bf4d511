"""notebook.py FILE -- run all cells of a notebook. It must be stored without output, and
show tables and pictures."""
import sys

import nbformat
from nbclient import NotebookClient


def main(path):
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    stored = [cell.id for cell in cells if cell.outputs or cell.execution_count]
    if stored:
        sys.exit("%s is stored with the output of %s; clear it" % (path, ", ".join(stored)))
    NotebookClient(book, timeout=300, kernel_name="python3").execute()  # raises what a cell raises
    kinds = [kind for cell in cells for one in cell.outputs for kind in one.get("data", ())]
    said = [one.text for cell in cells for one in cell.outputs if one.get("name") == "stderr"]
    counts = {kind: kinds.count(kind) for kind in ("text/html", "image/png")}
    print("%d cells, %s" % (len(cells), counts))
    if said:
        sys.exit("warnings: %s" % "".join(said))
    if counts["text/html"] < 4 or counts["image/png"] < 5:
        sys.exit("tables or pictures are missing")


if __name__ == "__main__":
    main(sys.argv[1])
