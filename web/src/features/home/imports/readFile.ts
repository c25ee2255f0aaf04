/** As many bytes as a flow may have; the server refuses longer ones too. */
export const LARGEST_FILE = 4_000_000;

export type ReadFile = { content: string } | { refused: "large" | "binary" };

/** The text of a file that may be anything. Nothing of it is interpreted. */
export async function readFlowFile(file: File): Promise<ReadFile> {
  if (file.size > LARGEST_FILE) return { refused: "large" };
  const bytes = new Uint8Array(await file.arrayBuffer());
  try {
    const content = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return content.includes("\u0000") ? { refused: "binary" } : { content };
  } catch {
    return { refused: "binary" };
  }
}
