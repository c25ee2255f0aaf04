import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useEventTexts = defineTexts("events", en, () => import("./sv"));
