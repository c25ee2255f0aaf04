/** Black or white, whichever is read better on a colour (WCAG's contrast). */
export function inkOn(colour: string): "#000000" | "#ffffff" {
  return luminance(colour) > 0.179 ? "#000000" : "#ffffff";
}

function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
