import { useMemo } from "react";
import type { Template } from "@/api/types";
import { KindIcon } from "@/components/icons";
import { useDraft } from "@/lib/draft";
import { portsOf } from "@/lib/ports";
import { addChosen } from "../actions/nodes";
import { between, fitting } from "../model/compatibility";
import { searched } from "../model/search";
import { useStage } from "../model/stage";
import { type Adding, useView } from "../model/view";
import { categoryName, searchTexts, usePaletteTexts } from "../palette/catalogue";
import { Floating } from "./Floating";
import { type Choice, Picker } from "./Picker";

/** The components that can be added here: all, or those that fit on a connection or into an edge. */
export function AddMenu() {
  const adding = useView((state) => state.adding);
  return adding ? <Open adding={adding} /> : null;
}

function Open({ adding }: { adding: Adding }) {
  const stage = useStage();
  const t = stage.t;
  const names = usePaletteTexts();
  const templates = useDraft((state) => state.templates);
  const close = () => useView.getState().set({ adding: null });
  const offered = useMemo(() => offer(adding, stage, templates), [adding, stage, templates]);
  const title = adding.kind === "node" ? t("add_node") : t("what_fits");
  const choices = (query: string): Choice[] =>
    searched(query, offered, searchTexts).map((one) => ({
      id: one.type,
      label: one.label,
      hint: one.description.split("\n")[0] ?? "",
      icon: <KindIcon template={one} />,
      ...(query ? {} : { group: categoryName(one.category, names) }),
    }));
  const choose = (type: string) => {
    const template = templates[type];
    close();
    if (template) addChosen(stage, adding, template);
  };
  return (
    <Floating title={title} at={adding.screen} onClose={close}>
      <Picker
        label={title}
        placeholder={t("find_component")}
        none={adding.kind === "node" ? t("no_component") : t("nothing_fits")}
        choices={choices}
        onChoose={choose}
      />
    </Floating>
  );
}

function offer(adding: Adding, stage: ReturnType<typeof useStage>, templates: Record<string, Template>): Template[] {
  const all = Object.values(templates);
  if (adding.kind === "node") return all;
  if (adding.kind === "fit") return fitting(adding.from, all).map((one) => one.template);
  const { document } = stage.store.getState();
  const [source, target] = [document.nodes[adding.edge.source], document.nodes[adding.edge.target]];
  const type =
    source && portsOf(source, templates[source.type]).outputs.find((one) => one.name === adding.edge.output)?.type;
  const types =
    target && portsOf(target, templates[target.type]).inputs.find((one) => one.name === adding.edge.input)?.types;
  return type && types ? between(type, types, all).map((one) => one.template) : [];
}
