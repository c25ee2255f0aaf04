import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useOverviewTexts = defineTexts("overview", en, () => import("./sv"));
