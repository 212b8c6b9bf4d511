"""check_refresh.py PATH -- new steps of a running simulation come by a refresh."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import arrays, load, output
from datasets import append
from paraview import simple

path = sys.argv[1]
BoumaGrid, _ = load()
append(path, 0)
reader = BoumaGrid(FileName=path)
assert arrays(output(reader))["v"].max() == 0 and not len(reader.TimestepValues) > 1
append(path, 1)
reader.InvokeCommand("Refresh")
reader.UpdatePipelineInformation()
assert list(reader.TimestepValues) == [0.0, 0.5], reader.TimestepValues
assert arrays(output(reader, 0.5))["v"].min() == 1
append(path, 2)
simple.ReloadFiles(reader)  # File > Reload Files
reader.UpdatePipelineInformation()
assert list(reader.TimestepValues) == [0.0, 0.5, 1.0], reader.TimestepValues
assert arrays(output(reader, 1.0))["v"].min() == 2
print("all is well", flush=True)
