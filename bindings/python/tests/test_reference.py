"""Every public name is in the reference of the site, with a docstring."""
import importlib.util
import os
import shutil
import sys

import pytest

import bouma

here = os.path.dirname(os.path.abspath(__file__))
path = os.path.join(here, "..", "..", "..", "docs", "site", "python_reference.py")
if not os.path.exists(path) or sys.version_info < (3, 9):
    pytest.skip("no sources of the site, or a Python that cannot read them", allow_module_level=True)
spec = importlib.util.spec_from_file_location("python_reference", path)
reference = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reference)
sources = os.path.join(here, "..", "bouma")


def test_every_name_has_a_docstring():
    package = reference.Package(sources)
    assert list(reference.problems(package)) == []
    assert set(package.public) == set(bouma.__all__) | set(bouma._LATER)
    html = "\n".join(reference.page(package))
    for name in package.public:
        thing = getattr(bouma, name) if name != "from_xarray" else None  # which needs xarray
        assert 'id="python.%s"' % name in html
        for member in vars(thing) if isinstance(thing, type) and not issubclass(thing, Exception) else ():
            assert member.startswith("_") or 'id="python.%s.%s"' % (name, member) in html, member


@pytest.mark.parametrize("file, old, new, said", [
    ("_variable.py", '"""The number of axes."""', "", "Variable.ndim: has no docstring"),
    ("_dataset.py", "'layout'", "layer", "Grid.layout: is not mentioned in the docstring of the class"),
    ("__init__.py", '"Variable", ', '"Variable", "Tree", ', "Tree: is not in a topic"),
])
def test_what_is_missing_is_found(tmp_path, file, old, new, said):
    shutil.copytree(sources, tmp_path / "bouma")
    text = (tmp_path / "bouma" / file).read_text()
    assert old in text
    (tmp_path / "bouma" / file).write_text(text.replace(old, new))
    assert said in list(reference.problems(reference.Package(tmp_path / "bouma")))
