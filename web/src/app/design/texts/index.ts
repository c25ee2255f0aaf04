import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useDesignTexts = defineTexts("design", en, () => import("./sv"));
