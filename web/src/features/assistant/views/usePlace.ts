import { type ComponentProps, type KeyboardEvent, type PointerEvent, useEffect, useState } from "react";
import { usePanels } from "@/lib/panels";
import { readStored, writeStored } from "@/lib/storage";
import { type Corner, fitted, moved, type Place, resized, usualPlace } from "../model/place";

const KEY = "assistant.place";
const STEP = 24;

const windowSize = () => ({ width: window.innerWidth, height: window.innerHeight });

/** Where the panel is: dragged, resized, docked, remembered, never out of the window; till it is moved, at the canvas's corner. */
export function usePlace() {
  const docked = usePanels((state) => state.docked);
  const taken = usePanels((state) => state.taken);
  const [own, setOwn] = useState(() => readStored<Place | null>(KEY, null));
  const [size, setSize] = useState(windowSize);
  const place = own ? fitted(own, size) : usualPlace(size, taken);
  useEffect(() => {
    const fit = () => setSize(windowSize());
    window.addEventListener("resize", fit);
    return () => window.removeEventListener("resize", fit);
  }, []);
  const setPlace = (next: Place) => {
    const there = fitted(next, windowSize());
    setOwn(there);
    writeStored(KEY, there);
  };
  const setDocked = usePanels.getState().setDocked;
  const dragging = (change: (from: Place, dx: number, dy: number) => Place) => (event: PointerEvent<HTMLElement>) => {
    if (event.button !== 0 || (event.target as HTMLElement).closest("button:not([data-grip]), a, input, textarea"))
      return;
    const { clientX, clientY, currentTarget, pointerId } = event;
    currentTarget.setPointerCapture(pointerId);
    const onMove = (at: globalThis.PointerEvent) => setPlace(change(place, at.clientX - clientX, at.clientY - clientY));
    const onEnd = () => {
      currentTarget.removeEventListener("pointermove", onMove);
      currentTarget.removeEventListener("pointerup", onEnd);
      currentTarget.removeEventListener("pointercancel", onEnd);
    };
    currentTarget.addEventListener("pointermove", onMove);
    currentTarget.addEventListener("pointerup", onEnd);
    currentTarget.addEventListener("pointercancel", onEnd);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const [dx, dy] = ARROWS[event.key] ?? [0, 0];
    if (dx === 0 && dy === 0) return;
    event.preventDefault();
    setPlace(event.shiftKey ? resized(place, "se", dx, dy) : moved(place, dx, dy));
  };
  return {
    docked,
    setDocked,
    place,
    drag: { onPointerDown: dragging(moved) } satisfies ComponentProps<"header">,
    grip: { onKeyDown, "data-grip": true } as ComponentProps<"button">,
    resize: (corner: Corner) => ({
      onPointerDown: dragging((from, dx, dy) => resized(from, corner, dx, dy)),
    }),
  };
}

const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-STEP, 0],
  ArrowRight: [STEP, 0],
  ArrowUp: [0, -STEP],
  ArrowDown: [0, STEP],
};
