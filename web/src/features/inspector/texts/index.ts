import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useInspectorTexts = defineTexts("inspector", en, () => import("./sv"));
