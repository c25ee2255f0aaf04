import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useSourceTexts = defineTexts("knowledge_sources", en, () => import("./sv"));
