import { useEffect, useRef } from "react";
import { tinykeys } from "tinykeys";
import { create } from "zustand";
import { readStored, writeStored } from "@/lib/storage";

/** A thing that a key does. `keys` in tinykeys' words: `$mod+k` is Cmd on a Mac and Ctrl elsewhere. */
export interface Shortcut {
  id: string;
  group: "general" | "canvas" | "run" | "assistant";
  keys: string;
  /** Acts while somebody writes in a field too. */
  inFields?: boolean;
}

const KEY = "shortcuts";

/** Every shortcut of the studio; the sheet (`?`) and the settings page read this list. */
export const SHORTCUTS = [
  { id: "commands", group: "general", keys: "$mod+k", inFields: true },
  { id: "shortcuts", group: "general", keys: "Shift+?" },
  { id: "save", group: "general", keys: "$mod+s", inFields: true },
  { id: "assistant", group: "assistant", keys: "$mod+j", inFields: true },
  { id: "run", group: "run", keys: "$mod+Enter", inFields: true },
  { id: "stop", group: "run", keys: "$mod+." },
  { id: "undo", group: "canvas", keys: "$mod+z" },
  { id: "redo", group: "canvas", keys: "$mod+Shift+z" },
  { id: "copy", group: "canvas", keys: "$mod+c" },
  { id: "cut", group: "canvas", keys: "$mod+x" },
  { id: "paste", group: "canvas", keys: "$mod+v" },
  { id: "duplicate", group: "canvas", keys: "$mod+d" },
  { id: "select_all", group: "canvas", keys: "$mod+a" },
  { id: "delete", group: "canvas", keys: "Delete" },
  { id: "group", group: "canvas", keys: "$mod+g" },
  { id: "extract", group: "canvas", keys: "$mod+Shift+e" },
  { id: "inline", group: "canvas", keys: "$mod+Shift+i" },
  { id: "search", group: "canvas", keys: "$mod+f" },
  { id: "add_node", group: "canvas", keys: "n" },
  { id: "add_note", group: "canvas", keys: "Shift+n" },
  { id: "fit", group: "canvas", keys: "Shift+1" },
  { id: "layout", group: "canvas", keys: "Shift+l" },
  { id: "rename", group: "canvas", keys: "F2" },
] as const satisfies readonly Shortcut[];

export type ShortcutId = (typeof SHORTCUTS)[number]["id"];

interface Keys {
  changed: Partial<Record<ShortcutId, string>>;
  setKeys: (id: ShortcutId, keys: string | null) => void;
}

/** The shortcuts that somebody gave other keys. */
export const useShortcutKeys = create<Keys>((set, get) => ({
  changed: readStored(KEY, {}),
  setKeys: (id, keys) => {
    const changed = { ...get().changed };
    if (keys === null) delete changed[id];
    else changed[id] = keys;
    writeStored(KEY, changed);
    set({ changed });
  },
}));

export function keysOf(id: ShortcutId, changed: Keys["changed"]): string {
  return changed[id] ?? SHORTCUTS.find((one) => one.id === id)?.keys ?? "";
}

/** Carry actions out on their keys while the component is there. An action that answers `false` lets the browser act. */
export function useShortcuts(
  actions: Partial<Record<ShortcutId, (event: KeyboardEvent) => boolean | undefined>>,
): void {
  const latest = useRef(actions);
  latest.current = actions;
  const changed = useShortcutKeys((state) => state.changed);
  const ids = Object.keys(actions).join(" ");
  useEffect(() => {
    const bindings: Record<string, (event: KeyboardEvent) => void> = {};
    for (const id of ids.split(" ").filter(Boolean) as ShortcutId[]) {
      bindings[keysOf(id, changed)] = (event) => {
        const shortcut: Shortcut | undefined = SHORTCUTS.find((one) => one.id === id);
        if (event.defaultPrevented || (!shortcut?.inFields && isField(event.target))) return;
        if (latest.current[id]?.(event) !== false) event.preventDefault();
      };
    }
    // tinykeys would keep every key away from fields; which shortcuts act there is said above.
    return tinykeys(window, bindings, { ignore: (event) => event.repeat || event.isComposing });
  }, [ids, changed]);
}

function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches("input, textarea, select, [role=textbox], [role=combobox]");
}

const IS_MAC = globalThis.navigator?.platform?.startsWith("Mac") ?? false;
const SIGNS: Record<string, string> = IS_MAC
  ? { $mod: "⌘", Shift: "⇧", Alt: "⌥", Enter: "↵", Delete: "⌫" }
  : { $mod: "Ctrl", Enter: "Enter", Delete: "Del" };

/** Keys as they are shown: `["Ctrl", "K"]`. */
export function shownKeys(keys: string): string[] {
  return keys.split("+").map((key) => SIGNS[key] ?? (key.length === 1 ? key.toUpperCase() : key));
}
