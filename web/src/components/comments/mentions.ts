interface Named {
  user_id: string;
  name: string;
}

/** The mention that is being written before the caret: what follows the last `@`; null where there is none. */
export function typedMention(text: string, caret: number): { from: number; typed: string } | null {
  const found = /(?:^|\s)@([^\s@][^@\n]{0,40}|)$/u.exec(text.slice(0, caret));
  if (!found) return null;
  const typed = found[1] ?? "";
  return { from: caret - typed.length - 1, typed };
}

/** The members whose name or one of its words begins so. */
export function matching<T extends Named>(members: readonly T[], typed: string): T[] {
  const wanted = typed.toLowerCase();
  return members.filter(({ name }) => {
    const lower = name.toLowerCase();
    return lower.startsWith(wanted) || lower.split(/\s+/).some((word) => word.startsWith(wanted));
  });
}

/** The text with the mention that is being written completed, and where the caret is then. */
export function completed(text: string, caret: number, name: string): { text: string; caret: number } {
  const mention = typedMention(text, caret);
  if (!mention) return { text, caret };
  const before = `${text.slice(0, mention.from)}@${name} `;
  return { text: before + text.slice(caret).trimStart(), caret: before.length };
}

/** The members that a text mentions by their full name. */
export function mentionsIn(text: string, members: readonly Named[]): string[] {
  return members.filter(({ name }) => name && text.includes(`@${name}`)).map(({ user_id }) => user_id);
}
