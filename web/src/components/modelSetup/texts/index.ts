import { defineTexts, type TextKey } from "@/lib/i18n/texts";
import en from "./en";

export const useModelSetupTexts = defineTexts("modelSetup", en, () => import("./sv"));
export type ModelSetupText = TextKey<typeof en>;
