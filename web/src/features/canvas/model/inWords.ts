/** JSON, whole or cut off: what begins so is no sentence and no link of Markdown. */
const DATA = /^(\{\s*("|\}|$)|\[\s*([[{"\d\-\]]|true|false|null|$))/;

/** The line under the names of the columns of a table in Markdown. */
const TABLE = /\|(?:\s*:?-{3,}:?\s*\|)+/;

/** A preview in one line: of data its names and values without the marks of JSON, of a table its cells, of text the text. */
export function inWords(preview: string): string {
  const text = preview.trim();
  if (TABLE.test(text))
    return text
      .replace(TABLE, " ")
      .replace(/\s*\|\s*/g, " ")
      .replace(/\s+/g, " ")
      .trim();
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
