import { defineTexts, type TextKey } from "@/lib/i18n/texts";
import en from "./en";

export type KnowledgeTextKey = TextKey<typeof en>;
export const useKnowledgeTexts = defineTexts("knowledge", en, () => import("./sv"));
