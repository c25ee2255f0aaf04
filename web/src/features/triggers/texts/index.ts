import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useTriggerTexts = defineTexts("triggers", en, () => import("./sv"));
export type TriggerTexts = ReturnType<typeof useTriggerTexts>;
