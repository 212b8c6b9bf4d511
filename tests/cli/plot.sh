#!/bin/bash
# plot.sh -- numbers of a file as curves and bars.
source "$(dirname "$0")/common.bash"

cat >curves.json <<'END'
{"format": "bouma-plot", "kind": "curves", "title": "Writes",
 "x": {"label": "ranks", "scale": "log2"}, "y": {"label": "GiB/s", "low": 0, "high": 8},
 "series": [{"name": "up", "x": [1, 2, 4], "y": [0, 4, 8], "low": [0, 2, 8]},
            {"name": "flat", "dashed": true, "x": [1, 4], "y": [4, 4]}]}
END
expect 0 "$BOUMA" plot curves.json -o curves.png
[[ -z $out ]] || complain "$out"

# In the frame, the first curve rises from a corner to the other; the second is level, with gaps.
picture "
import math
rows, palette = png.read('curves.png')
left, top, width, height = png.frame(rows, palette)
def places(colour):
    ink = palette.index(colour)
    return [(x - left, y - top) for y in range(top, top + height) for x in range(left, left + width)
            if rows[y][x] == ink]
up, flat = places((0, 114, 178)), places((213, 94, 0))
assert len(up) > 1000 and len(flat) > 300, (len(up), len(flat))
for x, y in up:
    assert abs((1 - y / height) - (x - 14) / (width - 28)) < 0.04, (x, y)
assert all(abs(y - height / 2) < 8 for x, y in flat)
level = {x for x, y in flat if abs(y - height / 2) < 2}
assert 0.3 * width < len(level) < 0.8 * width, len(level)"

cat >bars.json <<'END'
{"format": "bouma-plot", "kind": "bars", "labels": ["one", "two", "three"],
 "y": {"label": "s", "scale": "log", "low": 1, "high": 100},
 "series": [{"name": "a", "y": [100, 10, null]}]}
END
expect 0 "$BOUMA" plot bars.json -o bars.png --json
[[ $out == *'"series": 1'* ]] || complain "$out"
picture "
rows, palette = png.read('bars.png')
left, top, width, height = png.frame(rows, palette)
ink = palette.index((0, 114, 178))
lengths = sorted({sum(1 for x in row[left:left + width] if x == ink) for row in rows[top:top + height]})
assert len(lengths) == 3 and lengths[0] == 0 and abs(lengths[2] - 2 * lengths[1]) <= 2, lengths"

# Results of benchmarks: the figures with a reference.
python "
def figure(name, ratio):
    return {'part': 'cold', 'name': name, 'ratio': ratio, 'ratio_of_shortest': ratio}
json.dump({'schema': 'bouma-bench 1', 'runs': [
    {'benchmark': 'write', 'results': [figure('a', 0.1), figure('b', None), figure('c', 10)]},
    {'benchmark': 'read', 'results': [figure('d', 10)]}]}, open('bench.json', 'w'))"
expect 0 "$BOUMA" plot bench.json -o bench.png --json
[[ $out == *'"series": 2'* ]] || complain "$out"
picture "
rows, palette = png.read('bench.png')
left, top, width, height = png.frame(rows, palette)
ink = palette.index((0, 114, 178))
bars = [any(x == ink for x in row[left + width // 2:left + width]) for row in rows[top:top + height]]
assert sum(b and not a for a, b in zip([False] + bars, bars)) == 2, 'c and d are the long ones'"

# ---- mistakes ------------------------------------------------------------------

echo '{"format": "bouma-plot", "kind": "pie"}' >bad.json
refuse 1 'bad.json: "kind" is not curves or bars' "$BOUMA" plot bad.json -o x.png
echo '{"schema": "bouma-bench 2"}' >bad.json
refuse 1 'bad.json: "schema" is not "bouma-bench 1"' "$BOUMA" plot bad.json -o x.png
echo '{"schema": "bouma-bench 1", "runs": [{"results": [{"name": "a", "ratio": null}]}]}' >bad.json
refuse 1 'no figure has a reference' "$BOUMA" plot bad.json -o x.png
echo '{"ranks": 4}' >bad.json
refuse 1 '"format" is not "bouma-plot", nor "schema" "bouma-bench 1"' "$BOUMA" plot bad.json -o x.png
echo '{' >bad.json
refuse 1 "bad.json: line" "$BOUMA" plot bad.json -o x.png
refuse 2 "cannot read" "$BOUMA" plot missing.json -o x.png
refuse 2 "x.txt" "$BOUMA" plot curves.json -o x.txt
refuse 2 "" "$BOUMA" plot curves.json
[[ ! -e x.png ]] || complain "a picture of nothing"

finish
