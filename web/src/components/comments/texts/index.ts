import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useCommentTexts = defineTexts("comments", en, () => import("./sv"));
