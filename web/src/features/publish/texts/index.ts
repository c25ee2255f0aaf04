import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const usePublishTexts = defineTexts("publish", en, () => import("./sv"));
