import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useFileTexts = defineTexts("files", en, () => import("./sv"));
