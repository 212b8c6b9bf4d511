"""check_errors.py PATH -- wrong properties: nothing is read, and the process goes on. The
caller looks for the messages."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import load, output

path = sys.argv[1]
BoumaGrid, BoumaParticles = load()
for reader, good in ((BoumaGrid(FileName=path, Level=9), {"Level": 1}),
                     (BoumaGrid(FileName=path, SubExtent=[0, 99, 0, 5, 0, 5]), {"SubExtent": [0, 5, 0, 5, 0, 5]}),
                     (BoumaGrid(FileName=path, SubExtent=[5, 5, 0, 9, 0, 9], Level=2), {"Level": 0}),
                     (BoumaGrid(FileName=path, Grid="bax"), {"Grid": "box"}),
                     (BoumaGrid(FileName="nowhere.bouma"), {"FileName": path}),
                     (BoumaParticles(FileName=path, Where="T >"), {"Where": "T > 0"}),
                     (BoumaParticles(FileName=path, Quality=2), {"Quality": 0.5}),
                     (BoumaParticles(FileName=path, Limit=-1), {"Limit": 7})):
    assert output(reader).GetNumberOfPoints() == 0
    for name, value in good.items():
        setattr(reader, name, value)
    assert output(reader).GetNumberOfPoints() > 0, good
print("all is well", flush=True)
