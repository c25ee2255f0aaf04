import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useDiffTexts = defineTexts("diff", en, () => import("./sv"));
