export { ALIGNMENTS, type Alignment, type Axis, align, distribute } from "./align";
export { around, arrange } from "./arrange";
export { boundsOf, freePlace, overlaps, type Rect } from "./rects";
