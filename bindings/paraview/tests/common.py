"""What the scripts in pvbatch share: the plugin, and a reader's output as NumPy arrays."""
import os

import numpy as np
from paraview import simple
from vtkmodules.util.numpy_support import vtk_to_numpy

HERE = os.path.dirname(os.path.abspath(__file__))


def load():
    """The functions of the plugin: BoumaGrid and BoumaParticles."""
    simple.LoadPlugin(os.path.join(HERE, "..", "bouma_reader.py"), remote=False, ns=vars(simple))
    return simple.BoumaGrid, simple.BoumaParticles


def output(reader, time=None):
    """What this rank has, after an update."""
    reader.UpdatePipeline() if time is None else reader.UpdatePipeline(time)
    return reader.GetClientSideObject().GetOutputDataObject(0)


def arrays(data):
    """The arrays of the points; of an image with the axes z, y, x."""
    points = data.GetPointData()
    found = {}
    for i in range(points.GetNumberOfArrays()):
        array = vtk_to_numpy(points.GetArray(i))
        if data.IsA("vtkImageData"):
            array = array.reshape(tuple(data.GetDimensions())[::-1] + array.shape[1:])
        found[points.GetArrayName(i)] = array
    return found


def positions(data):
    return vtk_to_numpy(data.GetPoints().GetData())


def fact(data, name):
    return data.GetFieldData().GetArray("bouma " + name).GetValue(0)


def same(a, b):
    """The same type, shape and values, NaN and all."""
    return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(
        np.ascontiguousarray(a).view(np.uint8), np.ascontiguousarray(b).view(np.uint8))
