import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useAnswerTexts = defineTexts("answers", en, () => import("./sv"));
