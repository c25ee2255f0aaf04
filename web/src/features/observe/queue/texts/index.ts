import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useQueueTexts = defineTexts("queue", en, () => import("./sv"));
export type QueueTexts = ReturnType<typeof useQueueTexts>;
