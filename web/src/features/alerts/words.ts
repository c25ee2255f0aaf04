import type { Alert, AlertRule } from "@/api/queries/alerts";
import { duration, money, number } from "@/lib/i18n/format";
import type { AlertTexts } from "./texts";

/** `15 min`, `6 h`, `7 d`. */
export function timeWords(t: AlertTexts, seconds: number): string {
  if (seconds % 86_400 === 0) return t("days", { count: seconds / 86_400 });
  if (seconds % 3_600 === 0) return t("hours", { count: seconds / 3_600 });
  return t("minutes", { count: Math.round(seconds / 60) });
}

const values = (t: AlertTexts, value: number, windowSeconds: number) => ({
  threshold: number(value, 2),
  value: number(value, 1),
  money: money(value),
  seconds: duration(value * 1000),
  window: timeWords(t, windowSeconds),
});

/** What a rule watches for, in words. */
export const ruleWords = (t: AlertTexts, rule: AlertRule): string =>
  t(`words_${rule.kind}`, values(t, rule.threshold, rule.window_seconds));

/** What an alert has found, in words. */
export const foundWords = (t: AlertTexts, alert: Alert): string =>
  t(`found_${alert.kind}`, values(t, alert.value, alert.window_seconds));
