import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useWidgetTexts = defineTexts("widget", en, () => import("./sv"));
