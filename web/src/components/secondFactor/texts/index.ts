import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useSecondFactorTexts = defineTexts("secondFactor", en, () => import("./sv"));
