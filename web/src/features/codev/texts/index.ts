import { defineTexts, type Say } from "@/lib/i18n/texts";
import en from "./en";

export const useCodevTexts = defineTexts("codev", en, () => import("./sv"));
export type SayCodev = Say<typeof en>;
export type CodevText = Parameters<SayCodev>[0];
