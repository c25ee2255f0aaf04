import { api, unwrap } from "@/api/client";
import texts from "./sv.json";

/** The Swedish words of the catalogue, and those that installed packs bring; without the latter when they cannot be read. */
export async function swedish(): Promise<(english: string) => string> {
  const asked = unwrap(api.GET("/api/v1/packs/words/{language}", { params: { path: { language: "sv" } } }));
  const { words } = await asked.catch(() => ({ words: {} }));
  const all: Record<string, string> = { ...words, ...texts };
  return (english) => (Object.hasOwn(all, english) ? (all[english] ?? english) : english);
}
