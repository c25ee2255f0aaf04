import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useValueTexts = defineTexts("values", en, () => import("./sv"));
