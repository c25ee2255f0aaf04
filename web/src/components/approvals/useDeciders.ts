import type { ApprovalSummary } from "@/api/queries/approvals";
import { anyOf } from "@/lib/i18n/format";
import { useApprovalTexts } from "./texts";

const ROLES = ["viewer", "runner", "editor", "publisher", "owner"] as const;
type Role = (typeof ROLES)[number];
const isRole = (role: string | null | undefined): role is Role => ROLES.includes(role as Role);

type Deciders = Pick<ApprovalSummary, "assignees" | "not_starter" | "needed">;

/** Says who can decide an approval: `Anna or publishers of the space, not the user who started the run`. */
export function useDeciders(): (approval: Deciders) => string {
  const t = useApprovalTexts();
  return ({ assignees, not_starter, needed }) => {
    const names = assignees.map(({ role, name }) => (isRole(role) ? t(`role_${role}`) : (name ?? "")));
    const more = [not_starter ? t("not_starter") : "", needed > 1 ? t("needed", { count: needed }) : ""];
    return [names.length > 0 ? anyOf(names) : t("anyone"), ...more].filter(Boolean).join(", ");
  };
}
