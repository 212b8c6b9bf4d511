"""pieces.py PATH FOLDER -- on any number of ranks: each rank stores the pieces that it has,
and all of them render a picture."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import numpy as np
from common import arrays, load, output, positions
from paraview import simple
from paraview.modules.vtkRemotingCore import vtkProcessModule

path, folder = sys.argv[1:]
rank = vtkProcessModule.GetProcessModule().GetPartitionId()
ranks = vtkProcessModule.GetProcessModule().GetNumberOfLocalPartitions()
BoumaGrid, BoumaParticles = load()


def keep(name, data, **more):
    np.savez(os.path.join(folder, "%s.%d.npz" % (name, rank)), **more, **arrays(data))


for level in (0, 2):
    data = output(BoumaGrid(FileName=path, Grid="box", Level=level, SubExtent=[3, 33, 0, -1, 2, 18]), 0.1)
    keep("level%d" % level, data, extent=data.GetExtent())

box = BoumaGrid(FileName=path, Grid="box", Level=0, Arrays=["bump", "velocity"])
for name, more in (("all", {}), ("hot", {"Where": "T > 320", "UseBox": 1, "Box": [0.1, 0.9, 0.1, 0.9, 0.1, 0.9]}),
                   ("some", {"Limit": 1000})):
    cloud = BoumaParticles(FileName=path, Set="dust", **more)
    data = output(cloud, 0.1)
    keep(name, data, position=positions(data))

# Gradients at the edges of a piece need its neighbours: a layer of ghosts, which is cut off.
gradient = simple.Gradient(Input=box)
gradient.ScalarArray = ["POINTS", "bump"]
gradient.ResultArrayName = "gradient"
output(gradient, 0.1)
gradient.GetClientSideObject().UpdatePiece(rank, ranks, 1)
data = gradient.GetClientSideObject().GetOutputDataObject(0)
extent, cut = list(data.GetExtent()), []
for axis, last in ((2, 20), (1, 29), (0, 36)):
    low, high = int(extent[2 * axis] > 0), int(extent[2 * axis + 1] < last)
    cut.append(slice(low, extent[2 * axis + 1] - extent[2 * axis] + 1 - high))
    extent[2 * axis] += low
    extent[2 * axis + 1] -= high
np.savez(os.path.join(folder, "gradient.%d.npz" % rank), extent=extent, gradient=arrays(data)["gradient"][tuple(cut)])

view = simple.CreateView("RenderView")
view.ViewSize = [400, 300]
view.OrientationAxesVisibility = 0
view.Background = [1, 1, 1]
view.UseColorPaletteForBackground = 0
view.ViewTime = 0.1
surface = simple.Contour(Input=box, ContourBy=["POINTS", "bump"], Isosurfaces=[0.5])
shown = simple.Show(surface, view)
simple.ColorBy(shown, ("POINTS", "velocity", "X"))
simple.GetColorTransferFunction("velocity").RescaleTransferFunction(5, 32)  # the same on all ranks
shown.SetScalarBarVisibility(view, False)
points = simple.Transform(Input=BoumaParticles(FileName=path, Set="dust", Where="type == 1"))
points.Transform.Translate = [0.5, 2.0, -1.0]
points.Transform.Scale = [4.5, 14.5, 5.0]
dots = simple.Show(points, view)
dots.PointSize = 3
dots.ColorArrayName = ["POINTS", ""]
dots.AmbientColor = dots.DiffuseColor = [0.8, 0.2, 0.1]
view.CameraPosition, view.CameraFocalPoint, view.CameraViewUp = [-14, -12, 16], [2.75, 9.25, 1.5], [0, 0, 1]
simple.ResetCamera(view)
simple.SaveScreenshot(os.path.join(folder, "picture.png"), view, ImageResolution=[400, 300])
print("all is well", flush=True)
