import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useCallerTexts = defineTexts("caller", en, () => import("./sv"));
