interface Target {
  nodeId: string;
  insert: (path: string) => void;
}

let target: Target | null = null;

/** The text of a node that was edited last: where a reference from elsewhere goes. */
export function aimAt(next: Target): void {
  target = next;
}

export function leave(gone: Target): void {
  if (target === gone) target = null;
}

/** Put a reference into the text of this node that was edited last; whether there is one. */
export function insertInto(nodeId: string, path: string): boolean {
  if (target?.nodeId !== nodeId) return false;
  target.insert(path);
  return true;
}
