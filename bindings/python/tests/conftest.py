"""The fixtures of all tests here. (A plugin of this name has fixtures for its own folder only;
docstrings, which lie elsewhere, take them from example_dataset.py.)"""
from example_dataset import doctests, example  # noqa: F401
