import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useListTexts = defineTexts("lists", en, () => import("./sv"));
