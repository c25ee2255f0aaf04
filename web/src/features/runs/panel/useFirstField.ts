import { type RefObject, useEffect, useRef } from "react";

const FIRST_FIELD = "form :is(textarea, input:not([type=hidden]), [role=combobox])";

/** Puts the focus into the first field of a panel that is shown, each time `at` changes; 0 is never. */
export function useFirstField(shown: boolean, at: number): RefObject<HTMLElement | null> {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    if (shown && at) panel.current?.querySelector<HTMLElement>(FIRST_FIELD)?.focus();
  }, [shown, at]);
  return panel;
}
