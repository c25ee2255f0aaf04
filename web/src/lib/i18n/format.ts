import { i18next } from "./i18n";

const locale = () => (i18next.language === "sv" ? "sv-SE" : "en-GB");

/** `3 ms`, `1.2 s`, `4 min 10 s`, `5 h 3 min`, `3 d 4 h`; a dash where there is none. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return "–";
  if (ms < 1) return "<1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${number(ms / 1000, ms < 10_000 ? 1 : 0)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.round((ms % 60_000) / 1000)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function number(value: number, digits = 0): string {
  return new Intl.NumberFormat(locale(), { maximumFractionDigits: digits }).format(value);
}

/** Dollars with as many digits as a small price needs. */
export function money(usd: number | null | undefined): string {
  if (usd === null || usd === undefined) return "–";
  const digits = usd !== 0 && usd < 0.01 ? 5 : 2;
  return `$${new Intl.NumberFormat(locale(), { maximumFractionDigits: digits, minimumFractionDigits: 2 }).format(usd)}`;
}

export function bytes(size: number): string {
  if (size < 1024) return `${size} B`;
  const unit = size < 1024 ** 2 ? ["KB", 1024] : size < 1024 ** 3 ? ["MB", 1024 ** 2] : ["GB", 1024 ** 3];
  return `${number(size / Number(unit[1]), 1)} ${unit[0]}`;
}

/** In the time zone of the browser, or in another, by its IANA name. */
export function dateTime(value: string | Date, timeZone?: string): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short", timeZone }).format(
    new Date(value),
  );
}

/** `Monday 30 November`, in the time zone of the browser. */
export function dayName(value: string | Date): string {
  return new Intl.DateTimeFormat(locale(), { weekday: "long", day: "numeric", month: "long" }).format(new Date(value));
}

/** `Europe/Stockholm`: the time zone of the browser. */
export const browserTimeZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["second", 60],
  ["minute", 60],
  ["hour", 24],
  ["day", 30],
  ["month", 12],
  ["year", Number.POSITIVE_INFINITY],
];

/** `2 minutes ago`, `yesterday`; `2 min ago` where there is little room. */
export function ago(
  value: string | Date,
  { now = Date.now(), brief = false }: { now?: number; brief?: boolean | undefined } = {},
): string {
  let amount = (new Date(value).getTime() - now) / 1000;
  for (const [unit, size] of STEPS) {
    if (Math.abs(amount) < size) {
      return new Intl.RelativeTimeFormat(locale(), { numeric: "auto", style: brief ? "short" : "long" }).format(
        Math.round(amount),
        unit,
      );
    }
    amount /= size;
  }
  return "";
}

/** `Anna, Bo or Cecilia`. */
export function anyOf(names: readonly string[]): string {
  return new Intl.ListFormat(locale(), { type: "disjunction" }).format(names);
}
