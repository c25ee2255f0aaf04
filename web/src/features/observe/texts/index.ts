import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useObserveTexts = defineTexts("observe", en, () => import("./sv"));
