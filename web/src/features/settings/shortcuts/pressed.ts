import { keysOf, SHORTCUTS, type ShortcutId } from "@/lib/shortcuts/shortcuts";

type Pressed = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">;

const ALONE = ["Control", "Meta", "Shift", "Alt", "AltGraph", "Dead", "Tab", "CapsLock"];
/** What browsers keep for themselves, whatever a page wants. */
const OF_BROWSERS = ["$mod+t", "$mod+n", "$mod+w", "$mod+Shift+t", "$mod+Shift+n", "$mod+Shift+w", "F5", "$mod+r"];

/** Keys as they were pressed, in the words of the list; null while only Ctrl or Shift is down. */
export function pressed(event: Pressed): string | null {
  if (ALONE.includes(event.key)) return null;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const mod = event.ctrlKey || event.metaKey ? ["$mod"] : [];
  return [...mod, ...(event.altKey ? ["Alt"] : []), ...(event.shiftKey ? ["Shift"] : []), key].join("+");
}

/** The shortcut that has these keys already. */
export function takenBy(keys: string, self: ShortcutId, changed: Partial<Record<ShortcutId, string>>) {
  return SHORTCUTS.find(({ id }) => id !== self && keysOf(id, changed).toLowerCase() === keys.toLowerCase())?.id;
}

export const isOfBrowser = (keys: string) => OF_BROWSERS.includes(keys);
