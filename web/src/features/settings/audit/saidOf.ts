import type { SettingsText } from "../texts";
import actions from "../texts/en.actions";

/** The text for an action of the log; nothing for one that this page does not know. */
export function textOf(action: string): SettingsText | null {
  const key = `did_${action.replace(".", "_")}`;
  return Object.hasOwn(actions, key) ? (key as SettingsText) : null;
}

/** An action that has no text, as well as its code can be read: `space.moved_on` is "Space moved on". */
export function spelledOut(action: string): string {
  const words = action.replaceAll(/[._]/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
