import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useAlertTexts = defineTexts("alerts", en, () => import("./sv"));
export type AlertTexts = ReturnType<typeof useAlertTexts>;
