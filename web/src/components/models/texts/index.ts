import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useModelTexts = defineTexts("models", en, () => import("./sv"));
