import { type RefObject, useEffect, useRef, useState } from "react";

interface Asking {
  asking: boolean;
  ask: () => void;
  cancel: () => void;
  /** The button that asks: it has the focus again when nothing was asked after all. */
  button: RefObject<HTMLButtonElement | null>;
}

/** Whether changes are being asked for, in place of the buttons. */
export function useAsking(): Asking {
  const [asking, setAsking] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const before = useRef(false);
  useEffect(() => {
    if (before.current && !asking) button.current?.focus();
    before.current = asking;
  }, [asking]);
  return { asking, ask: () => setAsking(true), cancel: () => setAsking(false), button };
}
