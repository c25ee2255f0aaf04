import type { BudgetOut } from "@/api/types";
import { duration, money, number } from "@/lib/i18n/format";
import type { useRunTexts } from "../texts";

/** An amount in the unit of its budget. */
export function amount(t: ReturnType<typeof useRunTexts>, kind: BudgetOut["kind"], value: number): string {
  if (kind === "usd") return money(value);
  return kind === "seconds" ? duration(value * 1000) : t("tokens", { count: number(value) });
}
