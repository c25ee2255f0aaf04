export { Editing } from "./Editing";
export { SaveState } from "./SaveState";
