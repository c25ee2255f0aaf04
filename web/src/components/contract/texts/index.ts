import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useContractTexts = defineTexts("contract", en, () => import("./sv"));
