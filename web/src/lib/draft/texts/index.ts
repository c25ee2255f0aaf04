import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

/** What changes are called in the history. */
export const useDraftTexts = defineTexts("draft", en, () => import("./sv"));
