/** Colours of the tokens as they come to the eye: OKLCH to linear sRGB, luminance, contrast as WCAG counts it. */

export interface Rgb {
  r: number;
  g: number;
  b: number;
}

/** Linear sRGB of `oklch(L C H)` or `#rrggbb`, cut to what a screen shows; null where the text is no such colour. */
export function linearRgb(colour: string): Rgb | null {
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(colour.trim());
  if (hex) return { r: linear(hex[1]), g: linear(hex[2]), b: linear(hex[3]) };
  const found = /^oklch\(\s*([\d.]+%?)\s+([\d.]+)\s+([\d.]+)/.exec(colour.trim());
  if (!found) return null;
  // A built page writes lightness in per cent.
  const light = found[1]?.endsWith("%") ? Number.parseFloat(found[1]) / 100 : Number(found[1]);
  const [chroma, hue] = [Number(found[2]), Number(found[3])];
  const turn = (hue * Math.PI) / 180;
  const [a, b] = [chroma * Math.cos(turn), chroma * Math.sin(turn)];
  const l = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (light - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return {
    r: shown(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    g: shown(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    b: shown(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  };
}

function linear(byte = "00"): number {
  const part = Number.parseInt(byte, 16) / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
}

const shown = (part: number) => Math.min(1, Math.max(0, part));

/** 1 (none) to 21 (black on white); 0 where one of them is no colour. */
export function contrast(one: string, other: string): number {
  const [first, second] = [linearRgb(one), linearRgb(other)];
  if (!first || !second) return 0;
  const [low, high] = [luminance(first), luminance(second)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

const luminance = ({ r, g, b }: Rgb) => 0.2126 * r + 0.7152 * g + 0.0722 * b;

export const GROUNDS = ["canvas", "surface", "raised", "sunken"] as const;
export const TEXTS = ["ink", "muted", "faint", "accent", "ok", "warn", "bad", "info"] as const;
export const PORTS = ["text", "message", "data", "table", "file", "model", "tool"] as const;
export const KINDS = ["input", "ai", "text", "data", "web", "logic", "code", "output"] as const;
export const CLASSES = ["class-0", "class-1", "class-2", "class-3", "class-4"] as const;
const TONES = ["accent", "ok", "warn", "bad", "info"] as const;

interface Pair {
  text: string;
  ground: string;
  least: number;
}

/** Every pair that the studio draws, and the contrast that it must have. */
export const PAIRS: Pair[] = [
  ...TEXTS.flatMap((text) => GROUNDS.map((ground) => ({ text, ground, least: 4.5 }))),
  ...["ink", "muted"].flatMap((text) =>
    ["hover", ...TONES.map((tone) => `${tone}-soft`)].map((ground) => ({ text, ground, least: 4.5 })),
  ),
  ...TONES.map((tone) => ({ text: tone, ground: `${tone}-soft`, least: 4.5 })),
  ...CLASSES.flatMap((text) => ["surface", "raised"].map((ground) => ({ text, ground, least: 4.5 }))),
  { text: "on-accent", ground: "accent", least: 4.5 },
  { text: "on-accent", ground: "accent-hover", least: 4.5 },
  { text: "canvas", ground: "ink", least: 4.5 },
  ...PORTS.flatMap((port) => GROUNDS.map((ground) => ({ text: `port-${port}`, ground, least: 3 }))),
  ...KINDS.flatMap((kind) => GROUNDS.map((ground) => ({ text: `kind-${kind}`, ground, least: 3 }))),
  ...["focus", "selected"].flatMap((text) => GROUNDS.map((ground) => ({ text, ground, least: 3 }))),
];
