import { defineTexts, type TextKey } from "@/lib/i18n/texts";
import en from "./en";

export type InboxTextKey = TextKey<typeof en>;
export const useInboxTexts = defineTexts("inbox", en, () => import("./sv"));
