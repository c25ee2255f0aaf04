import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useProviderTexts = defineTexts("providers", en, () => import("./sv"));
