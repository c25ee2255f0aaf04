export { ComponentIcon } from "./ComponentIcon";
