import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const usePreviewTexts = defineTexts("knowledge_preview", en, () => import("./sv"));
