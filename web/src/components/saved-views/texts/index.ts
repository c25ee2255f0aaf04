import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useSavedViewTexts = defineTexts("saved-views", en, () => import("./sv"));
