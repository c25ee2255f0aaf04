import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useMetadataTexts = defineTexts("knowledge_metadata", en, () => import("./sv"));
