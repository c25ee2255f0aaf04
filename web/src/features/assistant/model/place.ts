/** Where the floating panel stands, and how large it is, in pixels of the window. */
export interface Place {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Size {
  width: number;
  height: number;
}

export const SMALLEST: Size = { width: 320, height: 320 };
const MARGIN = 8;
const USUAL: Size = { width: 400, height: 600 };
/** Room for the header of the page. */
const TOP = 56;

export type Corner = "nw" | "ne" | "sw" | "se";

/** At the lower right of what nobody else takes on the right, as tall as fits. */
export function usualPlace(window: Size, taken = 0): Place {
  const height = Math.min(USUAL.height, window.height - TOP - 2 * MARGIN);
  return fitted(
    { ...USUAL, height, x: window.width - taken - USUAL.width - 2 * MARGIN, y: window.height - height - 2 * MARGIN },
    window,
  );
}

/** The place within the window: all of it can be reached, whatever the window became. */
export function fitted(place: Place, window: Size): Place {
  const width = between(place.width, SMALLEST.width, window.width - 2 * MARGIN);
  const height = between(place.height, SMALLEST.height, window.height - 2 * MARGIN);
  return {
    width,
    height,
    x: between(place.x, MARGIN, window.width - width - MARGIN),
    y: between(place.y, MARGIN, window.height - height - MARGIN),
  };
}

export const moved = (place: Place, dx: number, dy: number): Place => ({ ...place, x: place.x + dx, y: place.y + dy });

/** Drawn larger or smaller by one corner; the opposite corner stays where it is. */
export function resized(place: Place, corner: Corner, dx: number, dy: number): Place {
  const west = corner.endsWith("w");
  const north = corner.startsWith("n");
  const width = Math.max(SMALLEST.width, place.width + (west ? -dx : dx));
  const height = Math.max(SMALLEST.height, place.height + (north ? -dy : dy));
  return {
    width,
    height,
    x: west ? place.x + place.width - width : place.x,
    y: north ? place.y + place.height - height : place.y,
  };
}

const between = (value: number, least: number, most: number) => Math.max(least, Math.min(value, Math.max(most, least)));
