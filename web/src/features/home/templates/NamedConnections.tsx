import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { connectionKindsQuery } from "@/api/queries/connections";
import type { components } from "@/api/schema";
import { useHomeTexts } from "../texts";

/** The connections that a template names, each with its kind: the template does not contain them. */
export function NamedConnections({ needed }: { needed: readonly components["schemas"]["NeededConnection"][] }) {
  const t = useHomeTexts();
  const { data: kinds } = useQuery({ ...connectionKindsQuery, enabled: needed.length > 0 });
  const label = (id: string) => kinds?.find((one) => one.id === id)?.label ?? id;
  return needed.map(({ name, kinds: ids }) => (
    <p key={name}>
      {t("names_connection", { name, kind: ids.map(label).join(", ") || t("any_http_kind") })}{" "}
      <Link to="/settings/{-$section}" params={{ section: "connections" }} className="text-accent underline">
        {t("add_connection")}
      </Link>
    </p>
  ));
}
