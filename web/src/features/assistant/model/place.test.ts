import { describe, expect, it } from "vitest";
import { fitted, resized, SMALLEST, usualPlace } from "./place";

const WINDOW = { width: 1440, height: 900 };

describe("the place of the panel", () => {
  it("is within the window, whatever was remembered", () => {
    expect(fitted({ x: 5000, y: -40, width: 440, height: 2000 }, WINDOW)).toEqual({
      x: 992,
      y: 8,
      width: 440,
      height: 884,
    });
    expect(fitted(usualPlace(WINDOW), WINDOW)).toEqual(usualPlace(WINDOW));
  });

  it("is beside the column on the right until it is moved", () => {
    const place = usualPlace(WINDOW, 416);
    expect(place.x + place.width).toBeLessThan(1440 - 416);
  });

  it("keeps the opposite corner where it is", () => {
    const place = { x: 100, y: 100, width: 440, height: 600 };
    expect(resized(place, "nw", 40, 10)).toEqual({ x: 140, y: 110, width: 400, height: 590 });
    const least = resized(place, "nw", 1000, 0);
    expect(least.width).toBe(SMALLEST.width);
    expect(least.x + least.width).toBe(540);
  });
});
