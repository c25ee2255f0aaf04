import { defineTexts } from "@/lib/i18n/texts";
import en from "./en";

export const useApprovalTexts = defineTexts("approvals", en, () => import("./sv"));
