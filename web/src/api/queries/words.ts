import { i18next } from "@/lib/i18n/i18n";
import { servedWords, type Translate } from "@/lib/i18n/served";
import { api, unwrap } from "../client";

/** The words of the catalogue, and those that installed packs bring; without the latter when they cannot be read. */
export async function catalogWords(): Promise<Translate> {
  if (i18next.language !== "sv") return servedWords();
  const asked = unwrap(api.GET("/api/v1/packs/words/{language}", { params: { path: { language: "sv" } } }));
  const [translate, { words }] = await Promise.all([servedWords(), asked.catch(() => ({ words: {} as Words }))]);
  return (english) => (Object.hasOwn(words, english) ? (words[english] ?? english) : translate(english));
}

type Words = Record<string, string>;
