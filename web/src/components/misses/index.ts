import { type MissText, useMissTexts } from "./texts";

/** What a server says that does not hold for an answer, as `graph/cases.py` words it. */
const SAID: [RegExp, MissText][] = [
  [/^does not contain (.+)$/s, "contains"],
  [/^contains (.+)$/s, "excludes"],
  [/^is not JSON$/, "no_json"],
  [/^is not supported by any passage$/, "not_supported"],
  [/^is not (.+)$/s, "equals"],
  [/^has nothing that matches (.+)$/s, "matches"],
  [/^does not satisfy its schema: (.+)$/s, "schema"],
  [/^is empty$/, "empty"],
  [/^is based on no passage of (.+)$/s, "document"],
  [/^has sentences that no passage supports$/, "sentences"],
  [/^lacks the number (.+) of the reference answer$/, "lacks_number"],
  [/^lacks (.+) words of the reference answer$/, "lacks_words"],
  [/^was judged as wrong: (.+)$/s, "judged"],
];
const QUOTED = /^(['"])(.*)\1$/s;

/** What did not hold, to be read after "the answer", in the language in use; what is not known as it was said. */
export function useMissWords(): (said: string) => string {
  const t = useMissTexts();
  return (said) => {
    for (const [form, text] of SAID) {
      const found = form.exec(said);
      if (found) return t(text, { text: (found[1] ?? "").replace(QUOTED, "$2") });
    }
    return said;
  };
}
