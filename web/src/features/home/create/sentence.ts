const LONGEST = 60;

/** A flow's first name from what somebody asked for: its first sentence, at most so long, cut between words. */
export function nameOfSentence(sentence: string): string {
  const words = sentence.trim().replace(/\s+/g, " ");
  const first = /^(.{3,}?)[.!?](?:\s|$)/.exec(words)?.[1] ?? words;
  if (first.length <= LONGEST) return capital(first);
  const cut = first.slice(0, LONGEST);
  const space = cut.lastIndexOf(" ");
  return `${capital(space > LONGEST / 2 ? cut.slice(0, space) : cut).replace(/[\s,;:–-]+$/, "")}…`;
}

function capital(text: string): string {
  const [first = ""] = text;
  return first.toLocaleUpperCase() + text.slice(first.length);
}
