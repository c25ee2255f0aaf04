import { useCallback } from "react";
import { useTranslation } from "react-i18next";
import { i18next } from "./i18n";

type Texts = Record<string, string>;
type Values = Record<string, string | number>;

/** The keys of a set of texts; the plural forms `x_one` and `x_other` are asked for as `x`. */
export type TextKey<T extends Texts> = keyof T extends infer K
  ? K extends `${infer Stem}_one` | `${infer Stem}_other`
    ? Stem
    : K
  : never;

/** Says a text in the language in use. `{{name}}` stands for a value; `count` chooses the plural form. */
export type Say<T extends Texts> = (key: TextKey<T>, values?: Values) => string;

/** What a translation must have: the same keys, all of them. */
export type Translation<T extends Texts> = { [K in keyof T]: string };

/**
 * A feature's texts: English comes with the code, other languages when they are chosen.
 *
 * `export const useCanvasTexts = defineTexts("canvas", en, () => import("./sv"));`
 */
export function defineTexts<T extends Texts>(
  namespace: string,
  english: T,
  swedish: () => Promise<{ default: Translation<T> }>,
): (() => Say<T>) & { now: Say<T> } {
  i18next.addResourceBundle("en", namespace, english);
  const load = (language: string) => {
    if (language !== "sv" || i18next.hasResourceBundle("sv", namespace)) return;
    void swedish().then((found) => i18next.addResourceBundle("sv", namespace, found.default));
  };
  load(i18next.language);
  i18next.on("languageChanged", load);
  function useTexts() {
    const { t } = useTranslation(namespace);
    return useCallback<Say<T>>((key, values) => t(key as string, values ?? {}) as string, [t]);
  }
  // For what is no component: said once, in the language in use at that moment.
  const now: Say<T> = (key, values) => i18next.t(key as string, { ns: namespace, ...values }) as string;
  return Object.assign(useTexts, { now });
}
