import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useAppTexts = defineTexts("app", en, () => import("./sv"));
export type AppText = ReturnType<typeof useAppTexts>;
