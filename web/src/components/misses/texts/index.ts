import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export type MissText = keyof typeof en;
export const useMissTexts = defineTexts("misses", en, () => import("./sv"));
