export { copied, pasteInto, written } from "./clip";
export { readClip } from "./read";
