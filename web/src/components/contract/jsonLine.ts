/** The line on which a text stops being JSON; null where it is JSON. */
export function lineOfFault(text: string): number | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    const told = error instanceof Error ? error.message : "";
    const line = /line (\d+)/.exec(told)?.[1];
    if (line) return Number(line);
    const position = /position (\d+)/.exec(told)?.[1];
    return text.slice(0, position === undefined ? text.length : Number(position)).split("\n").length;
  }
}
