/** JSON, whole or cut off: what begins so is no sentence and no link of Markdown. */
const DATA = /^(\{\s*("|\}|$)|\[\s*([[{"\d\-\]]|true|false|null|$))/;

/** A preview in one line: of data its names and values without the marks of JSON, of text the text. */
export function inWords(preview: string): string {
  const text = preview.trim();
  if (!DATA.test(text)) return text;
  return text
    .replace(/"\s*:\s*/g, '": ')
    .replace(/(["\]}\del]),(?=["[{\d\-tfn])/g, "$1, ")
    .replace(/\\[nrt]/g, " ")
    .replace(/\\(["\\/])/g, "$1")
    .replace(/[{}[\]"]/g, "")
    .replace(/\s+/g, " ")
    .trim();
}
