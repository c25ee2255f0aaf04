export { type Clip, copied, pasteInto, written } from "./clip";
export { readClip } from "./read";
