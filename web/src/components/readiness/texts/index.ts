import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useReadinessTexts = defineTexts("readiness", en, () => import("./sv"));
