"""newest.py PATH -- the readers as VTK's algorithms, without ParaView: with a VTK from PyPI,
which a newer ParaView has, too."""
import gc
import os
import sys
import types

import bouma
import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.util.vtkAlgorithm import VTKPythonAlgorithmBase
from vtkmodules.vtkCommonCore import vtkVersion

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.dirname(here)]


class Decorators:
    """Those of ParaView, which describe a class to it, and leave it as it is."""

    @staticmethod
    def xml(*_, **__):
        return lambda one: one

    reader = xml


for name in ("paraview", "paraview.util", "paraview.util.vtkAlgorithm"):
    sys.modules[name] = types.ModuleType(name)
vars(sys.modules["paraview.util.vtkAlgorithm"]).update(
    VTKPythonAlgorithmBase=VTKPythonAlgorithmBase, smhint=Decorators, smproperty=Decorators, smproxy=Decorators)
import bouma_reader
from datasets import SHAPE, values

path = sys.argv[1]
print("VTK", vtkVersion.GetVTKVersion(), "and NumPy", np.__version__)


def arrays(data):
    points = data.GetPointData()
    return {points.GetArrayName(i): vtk_to_numpy(points.GetArray(i)) for i in range(points.GetNumberOfArrays())}


grid = bouma_reader.BoumaGrid()
grid.SetFileName(path)
grid.SetObject("box")
grid.SetLevel(1)
grid.Update()
found = arrays(grid.GetOutputDataObject(0))
for name, array in values(0).items():
    wanted = array[::2, ::2, ::2]
    assert found[name].dtype == wanted.dtype
    assert np.array_equal(found[name].reshape(wanted.shape), wanted, equal_nan=wanted.dtype.kind == "f"), name

grid.SetLevel(0)
cells, bump = 0, values(0)["bump"]
for piece in range(3):
    grid.UpdatePiece(piece, 3, 1)
    data = grid.GetOutputDataObject(0)
    e = data.GetExtent()
    cells += int((vtk_to_numpy(data.GetCellGhostArray()) == 0).sum())
    part = bump[e[4]:e[5] + 1, e[2]:e[3] + 1, e[0]:e[1] + 1]
    assert np.array_equal(arrays(data)["bump"].reshape(part.shape), part)
assert cells == np.prod([n - 1 for n in SHAPE])

grid.SetLevel(9)
grid.Update()
assert grid.GetOutputDataObject(0).GetNumberOfPoints() == 0
grid.SetLevel(2)
grid.UpdatePiece(0, 1, 0)
assert grid.GetOutputDataObject(0).GetExtent() == (0, 9, 0, 7, 0, 5)

particles = bouma_reader.BoumaParticles()
particles.SetFileName(path)
particles.SetWhere("T > 300")
count = 0
for piece in range(3):
    particles.UpdatePiece(piece, 3, 0)
    data = particles.GetOutputDataObject(0)
    gc.collect()
    data.GetCellsBounds([0.0] * 6)  # looks at all vertices
    assert data.GetNumberOfVerts() == data.GetNumberOfPoints()
    count += data.GetNumberOfPoints()
assert count == bouma.open(path)[0]["dust"].query(where="T > 300").count
