import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useFlowDrawingTexts = defineTexts("flow-drawing", en, () => import("./sv"));
