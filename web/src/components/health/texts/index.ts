import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useHealthTexts = defineTexts("health", en, () => import("./sv"));
