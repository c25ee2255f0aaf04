import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useExportTexts = defineTexts("exports", en, () => import("./sv"));
