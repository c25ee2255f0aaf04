import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useStepTexts = defineTexts("steps", en, () => import("./sv"));
