import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useCaseTexts = defineTexts("cases", en, () => import("./sv"));
