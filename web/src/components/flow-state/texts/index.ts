import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useStateTexts = defineTexts("flow-state", en, () => import("./sv"));
