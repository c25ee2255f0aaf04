import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useStartedRunsTexts = defineTexts("startedRuns", en, () => import("./sv"));
