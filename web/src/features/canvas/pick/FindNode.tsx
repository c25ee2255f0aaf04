import { KindIcon } from "@/components/icons";
import { useDraft } from "@/lib/draft";
import { focusNode } from "../actions/walking";
import { searched } from "../model/search";
import { useStage } from "../model/stage";
import { useView } from "../model/view";
import { Floating } from "./Floating";
import { Picker } from "./Picker";

/** Find a node by its name, its kind, or what stands in it, and go there. */
export function FindNode() {
  const finding = useView((state) => state.finding);
  return finding ? <Open /> : null;
}

function Open() {
  const stage = useStage();
  const t = stage.t;
  const document = useDraft((state) => state.document);
  const templates = useDraft((state) => state.templates);
  const close = () => useView.getState().set({ finding: false });
  const nodes = document.order.flatMap((id) => document.nodes[id] ?? []);
  const labelOf = (type: string) => templates[type]?.label ?? type;
  return (
    <Floating title={t("find_node")} at={null} onClose={close}>
      <Picker
        label={t("find_node")}
        placeholder={t("find_node_more")}
        none={t("no_node")}
        choices={(query) =>
          searched(query, nodes, (node) => [
            `${node.label || labelOf(node.type)} ${node.id}`,
            labelOf(node.type),
            Object.values(node.params ?? {})
              .filter((value) => typeof value === "string")
              .join(" ")
              .slice(0, 2000),
          ])
            .slice(0, 50)
            .map((node) => ({
              id: node.id,
              label: node.label || labelOf(node.type),
              hint: node.id,
              icon: <KindIcon template={templates[node.type]} />,
            }))
        }
        onChoose={(id) => {
          close();
          setTimeout(() => focusNode(stage, id), 0);
        }}
      />
    </Floating>
  );
}
