import { useMemo, useRef, useState } from "react";

export interface Selection {
  /** Selected ids, in the order of the list. */
  ids: string[];
  has: (id: string) => boolean;
  /** Select or deselect an item; with `range`, every item from the last one selected. */
  toggle: (id: string, range?: boolean) => void;
  all: () => void;
  clear: () => void;
}

/** Which of a list's items are selected. Items that are no longer listed are not selected. */
export function useSelection(listed: readonly string[]): Selection {
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const anchor = useRef<string | null>(null);
  return useMemo(() => {
    const toggle = (id: string, range = false) => {
      const from = range && anchor.current ? listed.indexOf(anchor.current) : -1;
      const to = listed.indexOf(id);
      const next = new Set(marked);
      if (from >= 0) for (const one of listed.slice(Math.min(from, to), Math.max(from, to) + 1)) next.add(one);
      else if (!next.delete(id)) next.add(id);
      anchor.current = id;
      setMarked(next);
    };
    return {
      ids: listed.filter((id) => marked.has(id)),
      has: (id) => marked.has(id),
      toggle,
      all: () => setMarked(new Set(listed)),
      clear: () => setMarked(new Set()),
    };
  }, [listed, marked]);
}
