import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useCalledStepTexts = defineTexts("calledStep", en, () => import("./sv"));
