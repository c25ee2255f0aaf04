import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useHomeTexts = defineTexts("home", en, () => import("./sv"));
