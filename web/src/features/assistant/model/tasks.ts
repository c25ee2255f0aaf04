import type { BuildTask } from "./message";
import type { FlowUpdate } from "./wire";

/** The line that a change gets in the checklist; null for what has a card of its own or is nothing to a person. */
function taskOf(update: FlowUpdate): BuildTask | null {
  switch (update.action) {
    case "add_component":
      return task("add", update.node.id, update.node.type, "");
    case "remove_component":
      return task("remove", update.component_id, update.component_id, "");
    case "connect":
    case "disconnect": {
      const { source, output, target, input } = update.edge;
      return task(update.action, `${source}.${output}>${target}.${input}`, source, target);
    }
    case "configure":
      return task("configure", update.component_id, update.component_id, Object.keys(update.params).join(", "));
    case "rename_component":
      return task("rename", update.component_id, update.component_id, update.new_id);
    default:
      return null;
  }
}

/** The checklist with a change in it; a change that is told twice is one line. */
export function withTask(tasks: BuildTask[], update: FlowUpdate): BuildTask[] {
  const found = taskOf(update);
  if (!found) return tasks;
  const known = tasks.find((one) => one.key === found.key);
  if (!known) return [...tasks, found];
  if (found.kind !== "configure" || known.object.includes(found.object)) return tasks;
  const fields = [...new Set([...known.object.split(", "), ...found.object.split(", ")])].join(", ");
  return tasks.map((one) => (one === known ? { ...one, object: fields } : one));
}

const task = (kind: BuildTask["kind"], about: string, subject: string, object: string): BuildTask => ({
  key: `${kind}:${about}`,
  kind,
  subject,
  object,
});
