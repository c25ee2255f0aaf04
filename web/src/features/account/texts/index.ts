import { defineTexts, type TextKey } from "@/lib/i18n/texts";
import en from "./en";

export const useAccountTexts = defineTexts("account", en, () => import("./sv"));

export type AccountText = TextKey<typeof en>;
export { en };
