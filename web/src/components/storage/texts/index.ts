import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useStorageTexts = defineTexts("storage", en, () => import("./sv"));
