"""Things by their names, as a mapping and as attributes, with suggestions for names
that there are not."""
import difflib
import html
from typing import Any, Iterable, Iterator, List, Mapping, Optional, Sequence, TypeVar

from .errors import NotFoundError, error_of
from ._types import constant

T = TypeVar("T")


def unknown(what: str, name: Any, there: Iterable[str], step: Optional[int] = None) -> NotFoundError:
    """The exception for a name that is not there, or not in a step."""
    names = list(there)
    text = "there is no %s %r" % (what, name) + ("" if step is None else " in step %d" % step)
    near = similar(str(name), names)
    if near:
        text += "; did you mean %s?" % " or ".join(repr(one) for one in near)
    elif names:
        shown = ", ".join(repr(one) for one in names[:20])
        text += "; there are %s%s" % (shown, ", ..." if len(names) > 20 else "")
    else:
        text += "; there is none at all"
    error = error_of(constant("ENOTFOUND"), text)
    assert isinstance(error, NotFoundError)
    return error


def similar(name: str, names: Sequence[str]) -> List[str]:
    """Those that may have been meant. With the right 'grid/', only the rest is compared."""
    owner = name[:name.rfind("/") + 1]
    same = [one[len(owner):] for one in names if one.startswith(owner)]
    if not same:
        return difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    return [owner + one for one in difflib.get_close_matches(name[len(owner):], same, n=3, cutoff=0.5)]


class Names(Mapping[str, T]):
    """A mapping whose names are attributes, too."""

    _what = "name"

    def _names(self) -> Sequence[str]:
        raise NotImplementedError

    def _find(self, name: str) -> T:
        raise NotImplementedError

    def __getitem__(self, name: str) -> T:
        if not isinstance(name, str):
            raise TypeError("a %s is found by its name, not by %r" % (self._what, name))
        return self._find(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __contains__(self, name: object) -> bool:
        try:
            self._find(name)  # type: ignore[arg-type]
        except (KeyError, TypeError, AttributeError):
            return False
        return True

    def __getattr__(self, name: str) -> T:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._find(name)
        except NotFoundError as error:
            raise AttributeError(str(error)) from None

    def __dir__(self) -> List[str]:
        return sorted(set(super().__dir__()) | {one for one in self._names() if one.isidentifier()})

    def _ipython_key_completions_(self) -> List[str]:
        return list(self._names())

    # A mapping with the same content is not the same thing.
    __eq__ = object.__eq__
    __hash__ = object.__hash__


class Table(Names[T]):
    """Things that are known by their names already."""

    def __init__(self, what: str, things: Mapping[str, T]):
        self._what, self._things = what, things

    def _names(self) -> Sequence[str]:
        return list(self._things)

    def _find(self, name: str) -> T:
        if name not in self._things:
            raise unknown(self._what, name, self._things)
        return self._things[name]

    def __repr__(self) -> str:
        return "<%d %s: %s>" % (len(self), self._what, ", ".join(self._things))


def table_html(title: str, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table for notebooks."""
    line = "<tr>%s</tr>"
    cells = "".join(line % "".join("<td>%s</td>" % html.escape(str(one)) for one in row) for row in rows)
    top = line % "".join("<th>%s</th>" % html.escape(one) for one in head)
    return "<p><b>%s</b></p><table><thead>%s</thead><tbody>%s</tbody></table>" % (html.escape(title), top, cells)


def bytes_text(count: int) -> str:
    number, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if number < 1024 or unit == "TiB":
            break
        number /= 1024
    return "%.0f %s" % (number, unit) if unit == "B" else "%.1f %s" % (number, unit)
