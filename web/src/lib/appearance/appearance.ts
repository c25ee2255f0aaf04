import { create } from "zustand";
import { readStored, writeStored } from "@/lib/storage";

export type Theme = "system" | "light" | "dark";
export type Motion = "system" | "reduced";

interface Appearance {
  theme: Theme;
  motion: Motion;
  /** What is drawn now. */
  dark: boolean;
  setTheme: (theme: Theme) => void;
  setMotion: (motion: Motion) => void;
}

const KEY = "appearance";
const system = globalThis.matchMedia?.("(prefers-color-scheme: dark)");
const isDark = (theme: Theme) => theme === "dark" || (theme === "system" && (system?.matches ?? false));

/** Light or dark, and whether things move. `public/appearance.js` reads the same key before the first paint. */
export const useAppearance = create<Appearance>((set, get) => {
  const stored = readStored<{ theme?: Theme; motion?: Motion }>(KEY, {});
  const theme = stored.theme ?? "system";
  const keep = () => {
    const { theme, motion, dark } = get();
    writeStored(KEY, { theme, motion });
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    if (motion === "reduced") document.documentElement.dataset.motion = "reduced";
    else delete document.documentElement.dataset.motion;
  };
  system?.addEventListener("change", () => {
    set({ dark: isDark(get().theme) });
    keep();
  });
  return {
    theme,
    motion: stored.motion ?? "system",
    dark: isDark(theme),
    setTheme: (theme) => {
      set({ theme, dark: isDark(theme) });
      keep();
    },
    setMotion: (motion) => {
      set({ motion });
      keep();
    },
  };
});
