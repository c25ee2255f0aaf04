export const MOST_DAYS = 36_500;

/** Whether a text is a number of days that documents may be kept; 0: always. */
export function isRetention(text: string): boolean {
  const count = Number(text);
  return text.trim() !== "" && Number.isInteger(count) && count >= 0 && count <= MOST_DAYS;
}
