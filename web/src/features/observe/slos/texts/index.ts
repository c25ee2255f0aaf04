import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useSloTexts = defineTexts("slos", en, () => import("./sv"));
export type SloTexts = ReturnType<typeof useSloTexts>;
