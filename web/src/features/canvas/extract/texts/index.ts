import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useExtractTexts = defineTexts("extract", en, () => import("./sv"));
