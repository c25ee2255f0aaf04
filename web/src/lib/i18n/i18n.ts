import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import { readStored, writeStored } from "@/lib/storage";

export const LANGUAGES = { en: "English", sv: "Svenska" } as const;
export type Language = keyof typeof LANGUAGES;

const KEY = "language";

/** The language in use: the one chosen here, else the browser's where we speak it, else English. */
function preferredLanguage(): Language {
  const chosen = readStored<string | null>(KEY, null);
  if (chosen && Object.hasOwn(LANGUAGES, chosen)) return chosen as Language;
  return navigator.languages.some((one) => one.toLowerCase().startsWith("sv")) ? "sv" : "en";
}

void i18next.use(initReactI18next).init({
  lng: preferredLanguage(),
  fallbackLng: "en",
  resources: {},
  interpolation: { escapeValue: false },
  react: { useSuspense: false, bindI18nStore: "added" },
  returnNull: false,
  // Keys are words of ours: a dot or a colon in one means nothing.
  keySeparator: false,
  nsSeparator: false,
});
document.documentElement.lang = i18next.language;

export async function setLanguage(language: Language): Promise<void> {
  writeStored(KEY, language);
  document.documentElement.lang = language;
  await i18next.changeLanguage(language);
}

export { i18next };
