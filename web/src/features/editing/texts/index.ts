import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useEditingTexts = defineTexts("editing", en, () => import("./sv"));
export type EditingText = ReturnType<typeof useEditingTexts>;
