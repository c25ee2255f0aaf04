const TOKEN = /\s*(?:("(?:[^"\\\n]|\\.)*")|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|([[\]{},:]))/y;

/** The line on which a text stops being JSON; null where it is JSON. Browsers tell it each in its own way, or not. */
export function lineOfFault(text: string): number | null {
  try {
    JSON.parse(text);
    return null;
  } catch {
    return text.slice(0, faultAt(text)).split("\n").length;
  }
}

/** What may come next: a value, a name, a colon, or what ends or goes on with a list or an object. */
type Wanted = "value" | "name" | "colon" | "more";

/** The place of the first token that cannot stand there. */
function faultAt(text: string): number {
  const open: string[] = [];
  let wanted: Wanted = "value";
  let fresh = false;
  TOKEN.lastIndex = 0;
  for (;;) {
    const from = TOKEN.lastIndex;
    const found = TOKEN.exec(text);
    if (!found) return from + (/^\s*/.exec(text.slice(from))?.[0].length ?? 0);
    const place = from + (found[0].length - found[0].trimStart().length);
    const next = follow(found, wanted, open, fresh);
    if (!next) return place;
    wanted = next;
    fresh = found[3] === "{" || found[3] === "[";
  }
}

/** What may follow a token, or null where it cannot stand. `fresh`: a list or an object has just begun. */
function follow(found: RegExpExecArray, wanted: Wanted, open: string[], fresh: boolean): Wanted | null {
  const [, text, , sign] = found;
  switch (sign) {
    case undefined:
      return afterWord(wanted, text !== undefined);
    case "{":
    case "[":
      return wanted === "value" ? begun(sign, open) : null;
    case ",":
      return wanted === "more" ? goneOn(open) : null;
    case ":":
      return wanted === "colon" ? "value" : null;
    default:
      return wanted === "more" || fresh ? ended(sign, open) : null;
  }
}

function afterWord(wanted: Wanted, isText: boolean): Wanted | null {
  if (wanted === "name") return isText ? "colon" : null;
  return wanted === "value" ? "more" : null;
}

function begun(sign: string, open: string[]): Wanted {
  open.push(sign);
  return sign === "{" ? "name" : "value";
}

function goneOn(open: string[]): Wanted | null {
  if (open.length === 0) return null;
  return open.at(-1) === "{" ? "name" : "value";
}

function ended(sign: string, open: string[]): Wanted | null {
  return open.pop() === (sign === "}" ? "{" : "[") ? "more" : null;
}
