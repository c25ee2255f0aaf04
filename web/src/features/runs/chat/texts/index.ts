import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useChatTexts = defineTexts("chat", en, () => import("./sv"));
