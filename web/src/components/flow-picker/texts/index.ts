import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useFlowPickerTexts = defineTexts("flowPicker", en, () => import("./sv"));
