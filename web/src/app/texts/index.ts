import { defineTexts, type TextKey } from "@/lib/i18n/texts";
import en from "./en";

export const useAppTexts = defineTexts("app", en, () => import("./sv"));
export type AppTextKey = TextKey<typeof en>;
export type AppText = ReturnType<typeof useAppTexts>;
