declare module "colour-maps" {
  const maps: Record<string, [number, number, number][]>;
  export default maps;
}
declare module "*.css";
