export { KindIcon, KindTile } from "./ComponentIcon";
export { kindRole } from "./kinds";
