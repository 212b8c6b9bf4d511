"""ParaView reads bouma datasets: a plugin with two readers, "Bouma Grid" and "Bouma
Particles".

Load it by Tools > Manage Plugins > Load New, or in a script:

    from paraview.simple import *
    LoadPlugin("bouma_reader.py", remote=False, ns=globals())
    flow = BoumaGrid(FileName="run.bouma", Grid="flow", Level=2)
    hot = BoumaParticles(FileName="run.bouma", Set="coal", Where="T > 300", Limit=100000)

It needs the Python package bouma (PYTHONPATH), and ParaView 5.11 or newer. Debian's
ParaView 5.11 also needs the folder python311, beside this file, in PYTHONPATH.

On several ranks each reads its own piece: a block of the grid, or a box with about as
many particles as the others have. The ranks do not communicate.
"""
import math
import os
import sys

import numpy as np
from paraview.util.vtkAlgorithm import VTKPythonAlgorithmBase, smhint, smproperty, smproxy
from vtkmodules.util.numpy_support import get_vtk_array_type, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkDataArray, vtkDataArraySelection, vtkIdTypeArray, vtkOutputWindow, vtkPoints
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkDataObject
from vtkmodules.vtkCommonExecutionModel import vtkAlgorithm, vtkStreamingDemandDrivenPipeline as Pipeline

try:
    import bouma
except ImportError:
    # Beside an installed plugin (PREFIX/share/bouma/paraview), or in the build tree.
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path += [os.path.join(here, "../../../lib/python3/dist-packages"), os.path.join(here, "../../build/python")]
    try:
        import bouma
    except ImportError as error:
        raise ImportError("the plugin needs the Python package bouma: add its folder to PYTHONPATH (%s)"
                          % error) from None

paraview_plugin_name = "bouma"
paraview_plugin_version = bouma.__version__

AXES = "xyz"
SAMPLES_PER_PIECE = 512  # to find boxes with as many particles each


# ---- properties ----------------------------------------------------------------

FILE = """
<Documentation>%s</Documentation>
<StringVectorProperty name="FileName" command="SetFileName" number_of_elements="1" animateable="0"
                      panel_visibility="never">
  <FileListDomain name="files"/>
  <Documentation>The dataset: a directory.</Documentation>
</StringVectorProperty>
<DoubleVectorProperty name="TimestepValues" command="GetTimestepValues" information_only="1"
                      si_class="vtkSITimeStepsProperty" repeatable="1"/>
"""

CHOICE = """
<StringVectorProperty name="%(name)sNames" command="GetNames" information_only="1"/>
<StringVectorProperty name="%(name)s" command="SetObject" number_of_elements="1" default_values="">
  <StringListDomain name="list">
    <RequiredProperties><Property name="%(name)sNames" function="StringInfo"/></RequiredProperties>
  </StringListDomain>
  <Documentation>The %(what)s to read; the first one if this is empty.</Documentation>
</StringVectorProperty>
"""

ARRAYS = """
<StringVectorProperty name="ArraysInfo" command="GetArrays" number_of_elements_per_command="2"
                      information_only="1" si_class="vtkSIDataArraySelectionProperty"/>
<StringVectorProperty name="Arrays" command="GetArrays" information_property="ArraysInfo"
                      number_of_elements_per_command="2" element_types="2 0" repeat_command="1"
                      si_class="vtkSIDataArraySelectionProperty">
  <ArraySelectionDomain name="array_list">
    <RequiredProperties><Property name="ArraysInfo" function="ArrayList"/></RequiredProperties>
  </ArraySelectionDomain>
  <Documentation>The variables to read.</Documentation>
</StringVectorProperty>
<Property name="Refresh" command="Refresh" panel_widget="command_button">
  <Documentation>See the steps that a running simulation has written since.</Documentation>
</Property>
"""

GRID = """
<IntVectorProperty name="LevelRange" command="GetLevelRange" information_only="1"/>
<IntVectorProperty name="Level" command="SetLevel" number_of_elements="1" default_values="-1">
  <IntRangeDomain name="range" default_mode="min">
    <RequiredProperties><Property name="LevelRange" function="Range"/></RequiredProperties>
  </IntRangeDomain>
  <Documentation>0 is the full resolution; each coarser level has every second sample along each axis of the
  one before. -1: the finest level whose arrays fit into Memory.</Documentation>
</IntVectorProperty>
<IntVectorProperty name="Memory" command="SetMemory" number_of_elements="1"
                   default_values="1024">
  <IntRangeDomain name="range" min="1"/>
  <Documentation>With Level -1: MiB for the chosen arrays, of all ranks together.</Documentation>
</IntVectorProperty>
<IntVectorProperty name="SubExtent" command="SetSubExtent" number_of_elements="6"
                   default_values="0 -1 0 -1 0 -1">
  <Documentation>The first and the last sample along x, y and z that are read, counted at full resolution for
  every level. A last one of -1 is the end of the grid.</Documentation>
</IntVectorProperty>
"""

PARTICLES = """
<DoubleVectorProperty name="Quality" command="SetQuality" number_of_elements="1" default_values="1">
  <DoubleRangeDomain name="range" min="0" max="1"/>
  <Documentation>The fraction of the particles, evenly spread in space.</Documentation>
</DoubleVectorProperty>
<IdTypeVectorProperty name="Limit" command="SetLimit" number_of_elements="1" default_values="10000000">
  <Documentation>At most so many particles, of all ranks together, evenly spread over all that match. 0: no
  limit.</Documentation>
</IdTypeVectorProperty>
<StringVectorProperty name="Where" command="SetWhere" number_of_elements="1" default_values="">
  <Documentation>Conditions, as: T &gt; 300 and (velocity[2] &lt;= 0 or type != 2)</Documentation>
</StringVectorProperty>
<IntVectorProperty name="UseBox" command="SetUseBox" number_of_elements="1" default_values="0">
  <BooleanDomain name="bool"/>
  <Documentation>Read only the particles in the box.</Documentation>
</IntVectorProperty>
<DoubleVectorProperty name="Box" command="SetBox" number_of_elements="6" default_values="0 1 0 1 0 1">
  <Documentation>Low and high ends along x, y and z. The high ends are not included.</Documentation>
  <Hints>
    <PropertyWidgetDecorator type="GenericDecorator" mode="visibility" property="UseBox" value="1"/>
  </Hints>
</DoubleVectorProperty>
"""


# ---- plans: from numbers to numbers ---------------------------------------------

def at_level(extent, level):
    """The samples of a level within an extent of full resolution; ends are included."""
    return [one for i in range(3) for one in (-(-extent[2 * i] >> level), extent[2 * i + 1] >> level)]


def extent_within(sub, shape):
    """A sub-extent, cut to a grid of that shape (x first)."""
    made = []
    for i, n in enumerate(shape):
        low, high = sub[2 * i], sub[2 * i + 1]
        high = n - 1 if high < 0 else high
        if not 0 <= low <= high < n:
            raise ValueError("the sub-extent reaches from %d to %d along %s, where the grid has the samples 0 to %d"
                             % (low, high, AXES[i], n - 1))
        made += [low, high]
    return made


def count_of(extent):
    return [max(0, extent[2 * i + 1] - extent[2 * i] + 1) for i in range(3)]


def fitting_level(extent, levels, bytes_of_sample, memory):
    """The finest level whose samples take no more than that memory, and that has some."""
    for level in range(levels):
        counts = count_of(at_level(extent, level))
        if min(counts) < 1:
            return level - 1
        if math.prod(counts) * bytes_of_sample <= memory:
            return level
    return levels - 1


def box_of_piece(points, piece, pieces):
    """The box of a piece: space is cut along the longest axis of the points, so that both
    sides have as many of them as they get pieces, and so on. The boxes of all pieces do
    not overlap, and fill space."""
    low, high = [-math.inf] * points.shape[1], [math.inf] * points.shape[1]
    while pieces > 1:
        left, axis, cut = pieces // 2, 0, 0.0
        if len(points):
            axis = int(np.argmax(points.max(axis=0) - points.min(axis=0)))
            cut = float(np.sort(points[:, axis])[len(points) * left // pieces])
        below = points[:, axis] < cut
        if piece < left:
            high[axis], points, pieces = min(high[axis], cut), points[below], left
        else:
            low[axis], points = max(low[axis], cut), points[~below]
            piece, pieces = piece - left, pieces - left
    return list(zip(low, high))


def intersection(one, other):
    return [(max(a, c), min(b, d)) for (a, b), (c, d) in zip(one, other)]


# ---- NumPy to VTK ----------------------------------------------------------------

# VTK owns the memory of all arrays: a filter may share it with another array, which does not
# keep a NumPy array alive.

def new_array(name, shape, dtype, components, unit=""):
    """A VTK array, and a view of it with the axes of the grid, and one for the components if
    there are several."""
    made = vtkDataArray.CreateDataArray(get_vtk_array_type(dtype))
    made.SetName(name)
    made.SetNumberOfComponents(components)
    made.SetNumberOfTuples(math.prod(shape))
    if unit:
        made.GetInformation().Set(made.UNITS_LABEL(), unit)
    if not made.GetNumberOfTuples():
        return made, np.empty(tuple(shape) + (components,) * (components > 1), dtype)
    return made, vtk_to_numpy(made).reshape(tuple(shape) + (components,) * (components > 1))


def vector_components(components, axes):
    """Vectors in a plane get a third component, as those of VTK have three."""
    return 3 if components == axes == 2 else components


def as_vtk(array, name, unit="", axes=0):
    """A VTK array with the values of a NumPy array of one or two axes."""
    components = array.shape[1] if array.ndim > 1 else 1
    made, view = new_array(name, array.shape[:1], array.dtype, vector_components(components, axes), unit)
    if view.shape == array.shape:
        view[...] = array
    else:
        view[:, :components], view[:, components:] = array, 0
    return made


def ids_below(count):
    """0, 1, ... as an array of VTK's own type of ids."""
    made = vtkIdTypeArray()
    made.SetNumberOfValues(count)
    if count:
        vtk_to_numpy(made)[:] = np.arange(count)
    return made


def add_arrays(data, arrays):
    """Arrays of points. The first scalars and the first vectors are the active ones."""
    points = data.GetPointData()
    for array in arrays:
        points.AddArray(array)
        if array.GetNumberOfComponents() == 1 and points.GetScalars() is None:
            points.SetActiveScalars(array.GetName())
        if array.GetNumberOfComponents() == 3 and points.GetVectors() is None:
            points.SetActiveVectors(array.GetName())


def add_fact(data, name, value):
    data.GetFieldData().AddArray(as_vtk(np.array([value]), "bouma " + name))


def words_of(error):
    """The text of an exception; that of KeyError is in quotes."""
    plain = isinstance(error, KeyError) and not isinstance(error, bouma.BoumaError)
    return str(error.args[0] if plain and error.args else error) or type(error).__name__


# ---- the readers -------------------------------------------------------------------

class Reader(VTKPythonAlgorithmBase):
    """What both readers have in common: the dataset, its times, the choice of an object
    and of arrays."""

    what = ""  # of an object, in messages

    def __init__(self, output):
        super().__init__(nInputPorts=0, nOutputPorts=1, outputType=output)
        self._path, self._object, self._said = "", "", ""
        self._loading = False
        self._arrays = vtkDataArraySelection()
        self._arrays.AddObserver("ModifiedEvent", self._chosen)
        self._forget()

    def _forget(self):
        self._dataset, self._known, self._variables, self._times = None, {}, {}, []

    def _chosen(self, *_):
        if not self._loading:
            self.Modified()

    def _set(self, name, value):
        if getattr(self, name) != value:
            setattr(self, name, value)
            self.Modified()

    # Properties.

    def SetFileName(self, path):
        path = "" if path in (None, "None") else str(path)
        if os.path.basename(path) == "DATASET":  # a file in the dataset
            path = os.path.dirname(path)
        if path != self._path:
            self._path = path
            self._forget()
            self.Modified()

    def SetObject(self, name):
        self._set("_object", "" if name in (None, "None") else str(name))

    def Refresh(self):
        self._forget()
        self.Modified()

    def GetTimestepValues(self):
        return [time for time, _ in self._times] or None

    def GetArrays(self):
        return self._arrays

    def GetNames(self):
        self._try(self._open)
        return list(self._known)

    # The dataset.

    def _open(self):
        """Open the dataset, and look at its first and its last step."""
        if self._dataset is not None:
            return
        if not self._path:
            raise ValueError("no file name is given")
        dataset = bouma.open(self._path)
        times = [(float(t), int(n)) for t, n in zip(dataset.times, dataset.steps) if not math.isnan(t)]
        if not times:
            raise ValueError("%s has no step yet; refresh when it has one" % self._path)
        if any(a[0] >= b[0] for a, b in zip(times, times[1:])):
            times = [(float(n), n) for _, n in times]  # ParaView's times are ascending
        known, names = {}, {}
        for _, number in (times[-1], times[0]):
            for name, one in self._objects(dataset.at(step=number)).items():
                known.setdefault(name, one)
                names.setdefault(name, {}).update(dict.fromkeys(self._names(one)))
        if not known:
            raise ValueError("%s has no %s" % (self._path, self.what))
        self._dataset, self._times, self._known, self._variables = dataset, times, known, names

    def _chosen_object(self):
        self._open()
        if not self._object:
            return next(iter(self._known.values()))
        if self._object not in self._known:
            raise ValueError("%s has no %s %r; it has %s" % (self._path, self.what, self._object,
                                                             ", ".join(map(repr, self._known))))
        return self._known[self._object]

    def _list_arrays(self, names):
        """Offer these arrays; those that were there keep their choice."""
        self._loading = True
        for i in reversed(range(self._arrays.GetNumberOfArrays())):
            if self._arrays.GetArrayName(i) not in names:
                self._arrays.RemoveArrayByIndex(i)
        for name in names:
            self._arrays.AddArray(name)
        self._loading = False

    def _chosen_arrays(self, names):
        return [name for name in names if self._arrays.ArrayIsEnabled(name)]

    def _step(self, info):
        """The step that is asked for, and its time in ParaView."""
        wanted = info.Get(Pipeline.UPDATE_TIME_STEP()) if info.Has(Pipeline.UPDATE_TIME_STEP()) else self._times[0][0]
        time, number = min(self._times, key=lambda one: abs(one[0] - wanted))
        return self._dataset.at(step=number), time

    # Requests. Those that fail say why, and give an empty output. They do not return 0: the
    # pipeline would add a message that says nothing, and ask for the same extent once more when
    # the level is another.

    def RequestInformation(self, request, inputs, outputs):
        self._said = self._try(self._inform, outputs.GetInformationObject(0))
        if self._said:
            self._say(self._said)
        return 1

    def RequestData(self, request, inputs, outputs):
        info = outputs.GetInformationObject(0)
        output = info.Get(vtkDataObject.DATA_OBJECT())
        why = self._try(self._read, info, output)
        if why:
            output.Initialize()
        if why and why != self._said:
            self._say(why)
        return 1

    def _inform(self, info):
        one = self._chosen_object()
        times = [time for time, _ in self._times]
        info.Remove(Pipeline.TIME_STEPS())
        for time in times:
            info.Append(Pipeline.TIME_STEPS(), time)
        info.Set(Pipeline.TIME_RANGE(), [times[0], times[-1]], 2)
        self._list_arrays(list(self._variables[one.name]))
        self._describe(one, info)

    def _read(self, info, output):
        name = self._chosen_object().name
        step, time = self._step(info)
        objects = self._objects(step)
        if name not in objects:
            raise ValueError("step %d has no %s %r" % (step.number, self.what, name))
        output.Initialize()  # an image would keep the scalars of the time before
        self._fill(objects[name], info, output)
        add_fact(output, "step", step.number)
        output.GetInformation().Set(vtkDataObject.DATA_TIME_STEP(), time)

    def _try(self, call, *arguments):
        """Why the call fails, or ''."""
        try:
            call(*arguments)
            return ""
        except Exception as error:  # of any kind: none may end in ParaView's C++
            return words_of(error)

    def _say(self, why):
        """An error in ParaView's window of messages."""
        vtkOutputWindow.GetInstance().DisplayErrorText("ERROR: bouma: %s\n" % why)


DIRECTORY = dict(extensions="bouma", is_directory=True, support_reload=False)


@smproxy.reader(name="BoumaGrid", label="Bouma Grid", file_description="bouma grid", **DIRECTORY)
@smhint.xml('<ReloadFiles property="Refresh"/>')
@smproperty.xml(FILE % "Reads a grid of a bouma dataset, at any level of resolution." +
                CHOICE % {"name": "Grid", "what": "grid"} + GRID + ARRAYS)
class BoumaGrid(Reader):
    """A grid, as vtkImageData with a value at each point."""

    what = "grid"

    def __init__(self):
        super().__init__("vtkImageData")
        self._level, self._memory, self._sub = -1, 1024, [0, -1] * 3

    def SetLevel(self, level):
        self._set("_level", int(level))

    def SetMemory(self, memory):
        self._set("_memory", int(memory))

    def SetSubExtent(self, *extent):
        self._set("_sub", list(extent))

    def GetLevelRange(self):
        found = [-1, 0]
        self._try(lambda: found.__setitem__(1, self._chosen_object().levels - 1))
        return found

    def _objects(self, step):
        return step.grids

    def _names(self, grid):
        return list(grid)

    def _place(self, grid):
        """The level, and the whole extent there. VTK's axes are x, y, z; those of grids
        are z, y, x, in the same order in memory."""
        axes = grid.ndim
        extent = extent_within(self._sub[:2 * axes], grid.shape[::-1]) + [0, 0] * (3 - axes)
        level = self._level
        if level == -1:
            chosen = [grid[name] for name in self._chosen_arrays(grid)]
            sample = sum(v.dtype.itemsize * v.components for v in chosen)
            level = fitting_level(extent, grid.levels, sample, self._memory << 20)
        if not 0 <= level < grid.levels:
            raise IndexError("grid %r has no level %d; there are 0 to %d" % (grid.name, level, grid.levels - 1))
        coarse = at_level(extent, level)
        for i in range(3):
            if coarse[2 * i] > coarse[2 * i + 1]:
                raise ValueError("the sub-extent %d to %d along %s has no sample at level %d, where they are %d apart"
                                 % (extent[2 * i], extent[2 * i + 1], AXES[i], level, 1 << level))
        return level, coarse

    def _origin(self, grid, level):
        more = (0.0,) * (3 - grid.ndim)
        spacing = tuple(one * (1 << level) for one in grid.spacing[::-1])
        return grid.origin[::-1] + more, spacing + (1.0,) * len(more)

    def _describe(self, grid, info):
        level, extent = self._place(grid)
        origin, spacing = self._origin(grid, level)
        info.Set(Pipeline.WHOLE_EXTENT(), extent, 6)
        info.Set(vtkDataObject.ORIGIN(), origin, 3)
        info.Set(vtkDataObject.SPACING(), spacing, 3)
        info.Set(vtkAlgorithm.CAN_PRODUCE_SUB_EXTENT(), 1)

    def _fill(self, grid, info, output):
        known = self._chosen_object()
        if grid.shape != known.shape or grid.levels != known.levels:
            raise ValueError("grid %r has the shape %s in step %d, and %s in others"
                             % (grid.name, grid.shape, grid.step.number, known.shape))
        level, _ = self._place(known)
        extent = list(info.Get(Pipeline.UPDATE_EXTENT()))
        origin, spacing = self._origin(grid, level)
        output.SetOrigin(origin)
        output.SetSpacing(spacing)
        output.SetExtent(extent)
        add_fact(output, "level", level)
        if min(count_of(extent)) < 1:
            return  # more pieces than samples
        box = [(extent[2 * i] << level, (extent[2 * i + 1] << level) + 1) for i in range(grid.ndim)][::-1]
        made = []
        for name in self._chosen_arrays(grid):
            v = grid[name]
            components = vector_components(v.components, grid.ndim)
            array, view = new_array(name, count_of(extent)[:grid.ndim][::-1], v.dtype, components, v.unit)
            if components == v.components:
                v.read(box, level, out=view)
            else:
                v.read(box, level, out=view[..., :v.components])
                view[..., v.components:] = 0
            made.append(array)
        add_arrays(output, made)


@smproxy.reader(name="BoumaParticles", label="Bouma Particles", file_description="bouma particles", **DIRECTORY)
@smhint.xml('<ReloadFiles property="Refresh"/>')
@smproperty.xml(FILE % "Reads particles of a bouma dataset: all, or those in a box, with conditions, or some." +
                CHOICE % {"name": "Set", "what": "set of particles"} + PARTICLES + ARRAYS)
class BoumaParticles(Reader):
    """A set of particles, as vtkPolyData with a vertex for each."""

    what = "set of particles"

    def __init__(self):
        super().__init__("vtkPolyData")
        self._quality, self._limit, self._where = 1.0, 10000000, ""
        self._use_box, self._box = 0, [0.0, 1.0] * 3

    def SetQuality(self, quality):
        self._set("_quality", float(quality))

    def SetLimit(self, limit):
        self._set("_limit", int(limit))

    def SetWhere(self, where):
        self._set("_where", "" if where in (None, "None") else str(where))

    def SetUseBox(self, use):
        self._set("_use_box", int(use))

    def SetBox(self, *box):
        self._set("_box", list(box))

    def _objects(self, step):
        return step.particles

    def _names(self, particles):
        return list(particles)[1:]  # the first is the position

    def _describe(self, particles, info):
        info.Set(vtkAlgorithm.CAN_HANDLE_PIECE_REQUEST(), 1)

    def _fill(self, particles, info, output):
        piece, pieces = info.Get(Pipeline.UPDATE_PIECE_NUMBER()), info.Get(Pipeline.UPDATE_NUMBER_OF_PIECES())
        position = next(iter(particles))
        table = self._query(particles, piece, pieces, [position] + self._chosen_arrays(self._names(particles)))
        if particles.strays:  # nobody can see particles without a position
            finite = np.isfinite(table[position]).all(axis=1)
            for name in table:
                table[name] = table[name][finite]
        output.SetPoints(self._points(table[position].reshape(-1, particles.ndims)))
        output.SetVerts(self._vertices(len(table[position])))
        add_arrays(output, [as_vtk(array, name, particles[name].unit, particles.ndims)
                            for name, array in table.items() if name != position])
        add_fact(output, "quality", float(getattr(table, "quality", self._quality)))

    def _query(self, particles, piece, pieces, columns):
        """The particles of a piece."""
        limit = 0 if particles.count * self._quality <= self._limit else self._limit
        share = limit * (piece + 1) // pieces - limit * piece // pieces
        if self._limit < 0:
            raise ValueError("a limit of particles is not below 0, as %d" % self._limit)
        box = list(zip(self._box[::2], self._box[1::2]))[:particles.ndims] if self._use_box else None
        where = self._where.strip() or None
        if pieces > 1:
            position = next(iter(particles))
            some = particles.sample(min(particles.count, SAMPLES_PER_PIECE * pieces), 0, box, where, [position])
            points = some[position].reshape(some.count, particles.ndims)
            mine = box_of_piece(points[np.isfinite(points).all(axis=1)], piece, pieces)
            box = mine if box is None else intersection(box, mine)
        nothing = box is not None and any(low >= high for low, high in box)
        if nothing or (limit and not share):
            return type(particles.sample(0, columns=columns))(
                (name, np.empty((0,) + particles[name].shape[1:], particles[name].dtype)) for name in columns)
        more = {"limit": share} if limit else {}
        return particles.query(box, where, quality=self._quality, columns=columns, **more)

    def _points(self, positions):
        array, view = new_array("position", (len(positions),), positions.dtype, 3)
        axes = positions.shape[1]
        view[:, :axes], view[:, axes:] = positions, 0
        points = vtkPoints()
        points.SetData(array)
        return points

    def _vertices(self, count):
        cells = vtkCellArray()
        cells.SetData(ids_below(count + 1), ids_below(count))  # offsets, and the points
        return cells
