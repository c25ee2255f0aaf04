import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useConnectionTexts = defineTexts("connections", en, () => import("./sv"));
