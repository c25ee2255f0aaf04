/** A name for a file that every system takes, from whatever a flow is called. */
export function fileNameOf(name: string, ending: string): string {
  const safe = name
    .normalize("NFKC")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not stay
    .replace(/[\u0000-\u001f\u007f<>:"/\\|?*]+/g, " ")
    .trim()
    .replace(/\s+/g, "-")
    .replace(/^[.-]+|[.-]+$/g, "")
    .slice(0, 80);
  return `${safe || "flow"}.${ending}`;
}

/** A text as it stands in a file. */
export const textFile = (text: string) => new Blob([text], { type: "text/plain;charset=utf-8" });

/** Give the browser something to keep as a file. */
export function download(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

const LONGEST_SIDE = 8000;

/** A picture of an SVG in pixels: twice as fine as a screen, and never larger than browsers draw. */
export async function pngOf(svg: string): Promise<Blob> {
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const scale = pngScale(image.naturalWidth, image.naturalHeight);
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(image.naturalWidth * scale);
    canvas.height = Math.round(image.naturalHeight * scale);
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => {
      canvas.toBlob((made) => (made ? resolve(made) : reject(new Error("The browser made no picture."))), "image/png");
    });
  } finally {
    URL.revokeObjectURL(address);
  }
}

export function pngScale(width: number, height: number): number {
  return Math.min(2, LONGEST_SIDE / Math.max(width, height, 1));
}
