interface Counted {
  name: string;
  flows: number;
}

export interface FolderEntry {
  name: string;
  path: string;
  /** Flows in it and in the folders below it. */
  flows: number;
}

/** The folders directly below a path (empty: the top level), by name. */
export function foldersBelow(folders: readonly Counted[], parent: string): FolderEntry[] {
  const prefix = parent ? `${parent}/` : "";
  const below = new Map<string, FolderEntry>();
  for (const { name: path, flows } of folders) {
    if (!path.startsWith(prefix) || path.length === prefix.length) continue;
    const name = path.slice(prefix.length).split("/")[0] ?? "";
    const entry = below.get(name) ?? { name, path: `${prefix}${name}`, flows: 0 };
    below.set(name, { ...entry, flows: entry.flows + flows });
  }
  return [...below.values()];
}

/** The folders on the way to a path, itself last: `a/b` is in `a`. */
export function parentsOf(folder: string): string[] {
  const parts = folder.split("/").filter(Boolean);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}
