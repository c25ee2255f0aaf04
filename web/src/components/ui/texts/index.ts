import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useUiTexts = defineTexts("ui", en, () => import("./sv"));
