// grids.mjs URL -- read what is there with zarrita and ome-zarr.js, and print it: a line of JSON for each array.
import * as zarr from "zarrita";
import * as omezarr from "ome-zarr.js";

const url = process.argv[2];

function print(name, array) {
  const bytes = Buffer.from(array.data.buffer, array.data.byteOffset, array.data.byteLength);
  console.log(JSON.stringify({ name, shape: array.shape, type: array.data.constructor.name, data: bytes.toString("base64") }));
}

for (const view of ["ome", "ome2"]) {
  for (const level of [0, 2]) {
    const store = new zarr.FetchStore(`${url}${view}/run/flow/v/${level}`);
    const array = await zarr.open(store, { kind: "array" });
    print(`${view}/v/${level}`, await zarr.get(array, [1, 2, null, null, null]));
  }
}
const store = new zarr.FetchStore(`${url}zarr/run/flow/1/rho`);
print("zarr/rho/1", await zarr.get(await zarr.open(store, { kind: "array" }), [2, null, zarr.slice(3, 9), null]));

for (const view of ["ome", "ome2"]) {
  const image = `${url}${view}/run/flow/rho`;
  const found = await omezarr.getMultiscaleWithArray(image, 1);
  print(`${view} by ome-zarr.js`, await found.arr.getChunk([1, 0, 0, 0])); // by a zarrita of its own
}
