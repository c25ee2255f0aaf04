import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useTestTexts = defineTexts("testing", en, () => import("./sv"));
