import type { ReaderRole } from "@/api/queries/knowledge";

/** The lowest role that may read a document; `listed`: only its owner and listed readers. */
export const ROLES = ["visitor", "viewer", "runner", "editor", "publisher", "owner", "listed"] as const;
export type RoleChoice = (typeof ROLES)[number];

export const roleOf = (choice: RoleChoice): ReaderRole | null => (choice === "listed" ? null : choice);
