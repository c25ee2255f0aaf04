/** A preview in one line: of data its names and values without the marks of JSON, of text the text. */
export function inWords(preview: string): string {
  const text = preview.trim();
  if (!/^[[{]/.test(text)) return text;
  return text
    .replace(/\\[nrt]/g, " ")
    .replace(/\\(["\\/])/g, "$1")
    .replace(/[{}[\]"]/g, "")
    .replace(/([:,])(?=\S)/g, "$1 ")
    .replace(/\s+/g, " ")
    .trim();
}
