import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useRegionTexts = defineTexts("region", en, () => import("./sv"));
