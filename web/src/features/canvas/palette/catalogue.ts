import type { Template } from "@/api/types";
import { useCanvasTexts } from "../texts";

/** The palette's order of categories; others come behind, under their own names. */
const CATEGORIES = ["input", "ai", "text", "data", "logic", "web", "code", "output", "note"] as const;
type Known = (typeof CATEGORIES)[number];

const isKnown = (category: string): category is Known => (CATEGORIES as readonly string[]).includes(category);

export const usePaletteTexts = useCanvasTexts;

export function categoryName(category: string, t: ReturnType<typeof useCanvasTexts>): string {
  return isKnown(category) ? t(`category_${category}`) : category.charAt(0).toUpperCase() + category.slice(1);
}

/** Words by which a component is found, the weightiest first. */
export const searchTexts = (template: Template): readonly [string, string, string] => [
  `${template.label} ${template.type}`,
  (template.keywords ?? []).join(" "),
  template.description,
];

export function byCategory(templates: Template[]): [string, Template[]][] {
  const groups = new Map<string, Template[]>(CATEGORIES.map((category) => [category, []]));
  for (const template of templates) groups.set(template.category, [...(groups.get(template.category) ?? []), template]);
  return [...groups].filter(([, members]) => members.length > 0);
}

/** What is dragged from the palette is told by this kind of data. */
export const DRAG_KIND = "application/x-headgate-component";
