import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useFormTexts = defineTexts("form-builder", en, () => import("./sv"));
