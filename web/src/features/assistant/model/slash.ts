const COMMANDS = ["/skip-all", "/new", "/help"] as const;
export type SlashCommand = (typeof COMMANDS)[number];

/** The command that a text is, white space around it aside; a text with more in it is none. */
export function readCommand(text: string): SlashCommand | null {
  const words = text.trim();
  return COMMANDS.find((one) => one === words) ?? null;
}

/** Commands that begin with what is typed so far; none once it is something else. */
export function commandsFor(text: string): SlashCommand[] {
  if (!text.startsWith("/") || text.includes("\n")) return [];
  return COMMANDS.filter((one) => one.startsWith(text.trimEnd()));
}
