import { defineTexts, type Say } from "@/lib/i18n/texts";
import en from "./en";

export const useAssistantTexts = defineTexts("assistant", en, () => import("./sv"));
export type SayAssistant = Say<typeof en>;
export type AssistantText = Parameters<SayAssistant>[0];
