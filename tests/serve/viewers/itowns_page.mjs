// itowns_page.mjs -- all points of a set of point tiles, by iTowns' own source, layer, nodes and parser.
import { EntwinePointTileLayer, EntwinePointTileSource, LASParser } from "itowns";

LASParser.enableLazPerf(new URL("..", import.meta.url).href.replace(/\/$/, ""));

window.readTiles = async (url) => {
  const source = new EntwinePointTileSource({ url });
  const layer = new EntwinePointTileLayer("points", { source, crs: "EPSG:3857" });
  await layer.whenReady;
  const points = [];
  const nodes = [layer.root];
  const counts = {};
  while (nodes.length) {
    const node = nodes.pop();
    if (!node.octreeIsLoaded) await node.loadOctree();
    if (node.numPoints > 0) {
      const geometry = await node.load();
      const { origin } = geometry.userData;
      const at = geometry.attributes.position;
      for (let i = 0; i < at.count; i++) points.push(at.getX(i) + origin.x, at.getY(i) + origin.y, at.getZ(i) + origin.z);
      counts[node.voxelKey] = [node.numPoints, at.count, node.bbox.min.toArray(), node.bbox.max.toArray()];
    }
    nodes.push(...node.children);
  }
  return { points, counts };
};
window.isReady = true;
