import type { KeyboardEvent } from "react";
import type { Selection } from "./useSelection";

/** The attribute of an item in the list; its value is the id. */
export const ITEM = "data-item";
/** The attribute of what has the focus for the item: its link, or the button that stands for it. */
export const TARGET = "data-item-target";

/**
 * Keys of a list whose items can be selected: arrows move, Space or X selects, Shift with an arrow extends, Ctrl+A
 * selects all, Escape clears, Delete calls `onDelete`.
 */
export function listKeys(selection: Selection, onDelete?: () => void) {
  return (event: KeyboardEvent<HTMLElement>) => {
    const item = (event.target as HTMLElement).closest<HTMLElement>(`[${ITEM}]`);
    // A field, a menu or a button in the item handles its own keys.
    if (!item || !(event.target as HTMLElement).matches(`[${TARGET}]`)) return;
    const id = item.getAttribute(ITEM) ?? "";
    if (handled(event, item, id, selection, onDelete)) event.preventDefault();
  };
}

function handled(
  event: KeyboardEvent<HTMLElement>,
  item: HTMLElement,
  id: string,
  selection: Selection,
  onDelete: (() => void) | undefined,
): boolean {
  const { key } = event;
  if (key.startsWith("Arrow")) return moved(event, item, selection);
  if ((event.ctrlKey || event.metaKey) && key === "a") selection.all();
  else if (event.ctrlKey || event.metaKey || event.altKey) return false;
  else if (key === " " || key === "x") selection.toggle(id, event.shiftKey);
  else if (key === "Escape" && selection.ids.length > 0) selection.clear();
  else if (key === "Delete" && selection.ids.length > 0 && onDelete) onDelete();
  else return false;
  return true;
}

function moved(event: KeyboardEvent<HTMLElement>, item: HTMLElement, selection: Selection): boolean {
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>(`[${ITEM}]`)];
  const target = neighbour(items, items.indexOf(item), event.key);
  if (!target) return false;
  target.querySelector<HTMLElement>(`[${TARGET}]`)?.focus();
  if (event.shiftKey) {
    if (!selection.has(item.getAttribute(ITEM) ?? "")) selection.toggle(item.getAttribute(ITEM) ?? "");
    selection.toggle(target.getAttribute(ITEM) ?? "", true);
  }
  return true;
}

/** The item in that direction: up and down go to the same column of a grid. */
function neighbour(items: HTMLElement[], at: number, key: string): HTMLElement | undefined {
  const columns = Math.max(
    1,
    items.findIndex((one) => one.offsetTop !== items[0]?.offsetTop),
  );
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[key] ?? 0;
  return items[at + step];
}
