import { defineTexts, type TextKey } from "@/lib/i18n/texts";
import en from "./en";

export const useSettingsTexts = defineTexts("settings", en, () => import("./sv"));
export type SettingsText = TextKey<typeof en>;
