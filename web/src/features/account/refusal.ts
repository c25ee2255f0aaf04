import { ApiError } from "@/api/problem";
import { type AccountText, en } from "./texts";

export interface Refusal {
  text: AccountText;
  seconds: number;
  /** Names of the organisations to choose from. */
  organisations: string[];
}

/** Why signing in did not work, as a text of ours: what a server or an address says is never shown as it is. */
export function refusalOf(error: unknown): Refusal {
  if (!(error instanceof ApiError)) return said("general");
  const { organisations, retry_after_seconds: seconds } = error.problem;
  return {
    ...said(error.status === 429 ? "rate_limited" : error.code),
    seconds: typeof seconds === "number" ? seconds : 60,
    organisations: Array.isArray(organisations) ? organisations.map(String) : [],
  };
}

/** A code as a refusal; `unknown` stands for one that has no text. */
export function said(code: string, unknown: AccountText = "error_general"): Refusal {
  const text = `error_${code}`;
  return { text: Object.hasOwn(en, text) ? (text as AccountText) : unknown, seconds: 60, organisations: [] };
}

const SHORTEST = 12;

/** What is wrong with a new password before it is sent. */
export function wrongPassword(password: string, again: string): AccountText | null {
  if (!password || !again) return "error_empty";
  if ([...password.normalize("NFKC")].length < SHORTEST) return "error_password_short";
  return password === again ? null : "error_differ";
}
