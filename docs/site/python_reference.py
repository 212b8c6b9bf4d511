#!/usr/bin/env python3
"""python_reference.py [PACKAGE] -- the reference of the Python package as a piece of HTML,
made from its docstrings. Fails if a public name has none, or an attribute of a class is not
mentioned in that of the class."""
import ast
import os
import re
import sys
from html import escape

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# What a program can get hold of, by topic.
TOPICS = [
    ("Open and create", ["open", "create", "append", "from_xarray", "build_info"]),
    ("Datasets and steps", ["Dataset", "Step"]),
    ("Grids", ["Grid", "Variable", "Level", "Series"]),
    ("Particles", ["Particles", "Column", "Table", "Histogram"]),
    ("Budgets", ["Approximation", "Some", "Answer"]),
    ("Writing", ["Writer", "StepWriter", "GridWriter", "VariableWriter", "ParticlesWriter", "Attributes"]),
]
PLACES = {"Column": "_particles", "Some": "_particles", "Table": "_particles"}  # there are others of that name
FUNCTIONS = (ast.FunctionDef, ast.ClassDef)


def decorated(node, name):
    return any(ast.unparse(one).split(".")[-1] == name for one in node.decorator_list)


class Package:
    """The classes and functions of a package, by its sources alone."""

    def __init__(self, folder):
        self.found, self.imported = {}, {}
        for file in sorted(os.listdir(folder)):
            if not file.endswith(".py"):
                continue
            with open(os.path.join(folder, file), encoding="utf-8") as source:
                tree = ast.parse(source.read(), file)
            module = file[:-3]
            for node in tree.body:
                if isinstance(node, FUNCTIONS):
                    self.found[module, node.name] = node
            if module == "__init__":
                self.read_names(tree)
        self.errors = [name for name in self.public if ("errors", name) in self.found]

    def read_names(self, tree):
        """The names that the package exports, and how they are called inside."""
        self.public = []
        for node in tree.body:
            if isinstance(node, ast.ImportFrom):
                self.imported.update({one.asname: one.name for one in node.names if one.asname})
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("__all__", "_LATER"):
                self.public += list(ast.literal_eval(node.value))

    def node(self, name, module=None):
        name = self.imported.get(name, name)
        module = module or PLACES.get(name)
        some = [node for (where, one), node in self.found.items() if one == name and module in (None, where)]
        return some[0] if some else None

    def bases(self, node):
        """The classes of the package that a class is made from, the nearest first."""
        for base in node.bases:
            name = ast.unparse(base).split("[")[0]
            found = self.node(name) if name != "NamedTuple" else None
            if found is not None:
                yield found
                yield from self.bases(found)

    def members(self, node):
        """The public methods and properties of a class, with those of its bases."""
        seen = {}
        for one in [node, *self.bases(node)]:
            for member in one.body:
                if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
                    if not decorated(member, "overload"):
                        seen.setdefault(member.name, member)
        return list(seen.values())

    def attributes(self, node):
        """The public names that the class itself gives its objects, but methods."""
        names = [one.target.id for one in node.body if isinstance(one, ast.AnnAssign)]
        for member in node.body:
            if isinstance(member, ast.FunctionDef) and member.name == "__init__":
                for one in ast.walk(member):
                    if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store):
                        if ast.unparse(one.value) == "self":
                            names.append(one.attr)
        return [name for name in dict.fromkeys(names) if not name.startswith("_")]


def problems(package):
    """What is missing."""
    listed = {name for _, names in TOPICS for name in names} | set(package.errors)
    for name in package.public:
        if name not in listed:
            yield "%s: is not in a topic" % name
    for name in sorted(listed):
        node = package.node(name)
        if node is None:
            yield "%s: there is no such name" % name
            continue
        text = ast.get_docstring(node)
        if not text:
            yield "%s: has no docstring" % name
        if isinstance(node, ast.ClassDef):
            members = package.members(node)
            for one in members:
                if not ast.get_docstring(one):
                    yield "%s.%s: has no docstring" % (name, one.name)
            for one in package.attributes(node):
                if one not in [m.name for m in members] and not re.search(r"\b%s\b" % one, text or ""):
                    yield "%s.%s: is not mentioned in the docstring of the class" % (name, one)


def signature(node, method):
    """What stands between the parentheses. A type 'Any' tells nothing."""
    arguments = node.args
    if method and not decorated(node, "staticmethod"):
        arguments.args = arguments.args[1:] if arguments.args and arguments.args[0].arg == "self" else arguments.args
    text = re.sub(r": Any\b(?! *\w)", "", ast.unparse(arguments))
    text = text.replace("'", '"')
    text = re.sub(r'"([A-Za-z_.]+(?:\[[\w.]+\])?)"(?=[\]\s,=)]|$)', unquoted, text)
    result = re.sub("[\"']", "", ast.unparse(node.returns)) if node.returns else ""
    return "(%s)%s" % (text, " → " + result if result not in ("", "None", "Any") else "")


def unquoted(match):
    """A type that is named before it is defined has quotes, and texts have them, too."""
    return match[1] if match[1][0].isupper() or "." in match[1] else match[0]


def code(text):
    text = re.sub(r"(?<![\w'])&#x27;([\w./ -]+)&#x27;(?!\w)", r"<code>\1</code>", escape(text))
    return re.sub(r"(?<![\w>.])((?:\w+\.)*\w+\(\))", r"<code>\1</code>", text)


def text_of(node):
    """A docstring: paragraphs, and examples."""
    out = []
    for block in re.split(r"\n\s*\n", ast.get_docstring(node) or ""):
        if block.lstrip().startswith(">>>"):
            block = re.sub(r" *# doctest: .*", "", block)
            out.append('<pre class="fragment">%s</pre>' % escape(block))
        else:
            out.append("<p>%s</p>" % code(block))
    return "\n".join(out)


def entry(package, name):
    node = package.node(name)
    if isinstance(node, ast.FunctionDef):
        return '<h3 id="python.%s"><code>bouma.%s%s</code></h3>\n%s' % (name, name, escape(signature(node, False)),
                                                                    text_of(node))
    bases = [ast.unparse(one) for one in node.bases if name in package.errors]
    out = ['<h3 id="python.%s"><code>class %s%s</code></h3>' % (name, name, "(%s)" % ", ".join(bases) if bases else ""),
           text_of(node)]
    for one in package.members(node) if name not in package.errors or name == "BoumaError" else []:
        head = one.name if decorated(one, "property") else one.name + signature(one, True)
        place = "python.%s.%s" % (name, one.name)
        out.append('<dl><dt id="%s"><code>%s</code></dt>\n<dd>%s</dd></dl>' % (place, escape(head), text_of(one)))
    return "\n".join(out)


def page(package):
    topics = TOPICS + [("Exceptions", package.errors)]
    yield '<div class="python">\n<p>'
    yield ",\n".join('<a href="#python.%s">%s</a>' % (name, name) for _, names in topics for name in names)
    yield "</p>"
    for title, names in topics:
        yield "<h2>%s</h2>" % title
        for name in names:
            yield entry(package, name)
    yield "</div>"


def main(folder):
    package = Package(folder)
    wrong = list(problems(package))
    if wrong:
        sys.exit("\n".join(wrong))
    print("\n".join(page(package)))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(root, "bindings", "python", "bouma"))
