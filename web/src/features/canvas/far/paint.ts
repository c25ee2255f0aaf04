import type { Viewport } from "@xyflow/react";
import type { Look, Scene } from "./scene";

/** Below this zoom names would be specks. */
const NAMES_FROM = 0.2;
const NAME_SIZE = 30;

/** The roles of colour that the far view draws in, as they are now. */
export type Colours = (role: string) => string;

export function coloursNow(): Colours {
  const style = getComputedStyle(document.documentElement);
  const known = new Map<string, string>();
  return (role) => {
    const found = known.get(role) ?? style.getPropertyValue(`--${role}`).trim();
    known.set(role, found);
    return found;
  };
}

const LOOKS: Record<Look, [fill: string, line: string]> = {
  plain: ["surface", "line-strong"],
  running: ["info-soft", "info"],
  completed: ["ok-soft", "ok"],
  failed: ["bad-soft", "bad"],
  skipped: ["sunken", "line"],
  wrong: ["surface", "bad"],
  note: ["warn-soft", "warn"],
};

export function paint(
  ctx: CanvasRenderingContext2D,
  scene: Scene,
  { x, y, zoom }: Viewport,
  dpr: number,
  colour: Colours,
) {
  ctx.setTransform(dpr * zoom, 0, 0, dpr * zoom, dpr * x, dpr * y);
  const hair = 1 / zoom;
  ctx.lineWidth = hair;
  ctx.fillStyle = colour("sunken");
  ctx.strokeStyle = colour("line-strong");
  ctx.fill(scene.frames);
  ctx.stroke(scene.frames);
  for (const [kind, role] of [
    ["data", "faint"],
    ["model", "port-model"],
    ["tool", "port-tool"],
  ] as const) {
    ctx.strokeStyle = colour(role);
    ctx.stroke(scene.wires[kind]);
  }
  for (const [look, path] of scene.boxes) {
    const [fill, line] = LOOKS[look];
    ctx.fillStyle = colour(fill);
    ctx.strokeStyle = colour(line);
    ctx.fill(path);
    ctx.stroke(path);
  }
  for (const [role, path] of scene.bars) {
    ctx.fillStyle = colour(role);
    ctx.fill(path);
  }
  ctx.lineWidth = 3 * hair;
  ctx.strokeStyle = colour("selected");
  ctx.stroke(scene.chosen);
  if (zoom >= NAMES_FROM) paintNames(ctx, scene, colour("ink"), { x, y, zoom }, dpr);
}

function paintNames(ctx: CanvasRenderingContext2D, scene: Scene, ink: string, view: Viewport, dpr: number): void {
  const { width, height } = ctx.canvas;
  const size = Math.max(NAME_SIZE, 10 / view.zoom);
  ctx.fillStyle = ink;
  ctx.font = `600 ${size}px "Inter Variable", sans-serif`;
  ctx.textBaseline = "middle";
  for (const name of scene.names) {
    const [left, top] = [(name.x * view.zoom + view.x) * dpr, (name.y * view.zoom + view.y) * dpr];
    if (left > width || top > height || top < 0 || left + name.width * view.zoom * dpr < 0) continue;
    const most = Math.floor(name.width / (size * 0.56));
    ctx.fillText(name.text.length > most ? `${name.text.slice(0, most - 1)}…` : name.text, name.x, name.y);
  }
}
