const DAY = 86_400_000;

/** Whole days until something expires, negative when it has; null when it does not. */
export function daysLeft(expires: string | null | undefined, now = Date.now()): number | null {
  return expires ? Math.floor((Date.parse(expires) - now) / DAY) : null;
}
