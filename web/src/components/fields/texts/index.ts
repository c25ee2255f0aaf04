import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useFieldTexts = defineTexts("fields", en, () => import("./sv"));
