import { i18next } from "./i18n";

/** Says what the server says in English in the language in use; what has no translation stays as it is. */
export type Translate = (english: string) => string;

const AS_IT_IS: Translate = (english) => english;

/**
 * The words for what comes with the installation: names and help of components, and the gallery.
 *
 * They are fetched when Swedish is in use. What people named themselves is never translated.
 */
export async function servedWords(): Promise<Translate> {
  if (i18next.language !== "sv") return AS_IT_IS;
  return (await import("./served/words")).swedish();
}
