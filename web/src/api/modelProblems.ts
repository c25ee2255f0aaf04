import { ApiError } from "./problem";

/** Codes of errors that connecting a provider may cure. */
const CODES = new Set([
  "model_key_missing",
  "unknown_provider",
  "provider_not_configured",
  "provider_not_installed",
  "model_key_rejected",
  "model_not_accessible",
]);

export const isOfModel = (code: string): boolean => CODES.has(code);
export const isErrorOfModel = (error: unknown): boolean => error instanceof ApiError && CODES.has(error.code);
