import { reveal, type Stage } from "../model/stage";
import { useView } from "../model/view";

/** Go to the next or previous node in the flow's order; false behind the last one, where the page goes on. */
export function walk(stage: Stage, from: EventTarget | null, step: 1 | -1): boolean {
  const { document: flow, selectedNodes } = stage.store.getState();
  const here = from instanceof Element ? from.closest<HTMLElement>(".react-flow__node")?.dataset.id : undefined;
  if (!here && !(from instanceof Element && from.closest(".react-flow"))) return false;
  const at = here ?? selectedNodes.at(-1);
  const place = at ? flow.order.indexOf(at) : step > 0 ? -1 : flow.order.length;
  const next = flow.order[place + step];
  if (!next) return false;
  focusNode(stage, next);
  return true;
}

/** Select a node, bring it into sight and put the focus on it as soon as it is drawn, unless the next is chosen by then. */
export function focusNode(stage: Stage, id: string): void {
  stage.store.getState().select([id]);
  let tries = 0;
  let revealed = false;
  const find = () => {
    if (!revealed && stage.drawn.nodes.some((node) => node.id === id)) {
      reveal(stage, id);
      revealed = true;
    }
    const element = document.querySelector<HTMLElement>(`.react-flow__node[data-id="${id}"]`);
    if (useView.getState().adding) return;
    if (element) element.focus({ preventScroll: true });
    else if (tries < 40) requestAnimationFrame(find);
    tries += 1;
  };
  find();
}
