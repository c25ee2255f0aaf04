import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

/** What is said before the assistant is loaded. */
export const useDockTexts = defineTexts("assistant-dock", en, () => import("./sv"));
