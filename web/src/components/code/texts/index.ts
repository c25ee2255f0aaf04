import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useCodeTexts = defineTexts("code", en, () => import("./sv"));
