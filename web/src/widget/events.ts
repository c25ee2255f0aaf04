export interface Event {
  kind: string;
  data: Record<string, unknown>;
}

/** Server-sent events out of pieces of text that end anywhere. */
export class EventParser {
  private rest = "";

  feed(piece: string): Event[] {
    const parts = (this.rest + piece).split("\n\n");
    this.rest = parts.pop() ?? "";
    return parts.flatMap((part) => parsed(part) ?? []);
  }
}

function parsed(part: string): Event | null {
  let kind = "";
  let data = "";
  for (const line of part.split("\n")) {
    if (line.startsWith("event: ")) kind = line.slice(7);
    else if (line.startsWith("data: ")) data += line.slice(6);
  }
  if (!kind) return null;
  try {
    return { kind, data: JSON.parse(data) as Record<string, unknown> };
  } catch {
    return null;
  }
}
