"""For ParaView 5.11 under Python 3.11, as in Debian 12: its plugin loader imports
inspect.getargspec, which Python 3.11 no longer has. With this folder in PYTHONPATH,
Python runs this file at its start, and plugins load. Newer ParaViews do not need it."""
import inspect

if not hasattr(inspect, "getargspec"):
    inspect.getargspec = inspect.getfullargspec  # type: ignore[attr-defined]
