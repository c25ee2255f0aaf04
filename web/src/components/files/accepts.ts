/** Whether a file is of a kind that an `accept` attribute lets through: `image/*,.pdf,text/csv`. */
export function accepts(accept: string | undefined, file: { name: string; type: string }): boolean {
  if (!accept) return true;
  const name = file.name.toLowerCase();
  return accept
    .split(",")
    .map((one) => one.trim().toLowerCase())
    .some((one) => {
      if (one.startsWith(".")) return name.endsWith(one);
      if (one.endsWith("/*")) return file.type.startsWith(one.slice(0, -1));
      return file.type === one;
    });
}
