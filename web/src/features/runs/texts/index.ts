import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useRunTexts = defineTexts("runs", en, () => import("./sv"));
export type RunTextKey = Parameters<ReturnType<typeof useRunTexts>>[0];
