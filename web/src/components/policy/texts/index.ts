import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const usePolicyTexts = defineTexts("policy", en, () => import("./sv"));
