import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useCanvasTexts = defineTexts("canvas", en, () => import("./sv"));
