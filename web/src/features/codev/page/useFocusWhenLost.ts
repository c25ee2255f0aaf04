import { type RefObject, useEffect, useRef } from "react";

/** Takes the focus where what had it is gone: who uses the keyboard goes on here, and not at the top of the page. */
export function useFocusWhenLost<T extends HTMLElement>(): RefObject<T | null> {
  const here = useRef<T>(null);
  useEffect(() => {
    const active = document.activeElement;
    if (active === document.body || active?.id === "content") here.current?.focus({ preventScroll: true });
  }, []);
  return here;
}
