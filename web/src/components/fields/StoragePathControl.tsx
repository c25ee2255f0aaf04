import { BrowseStorage } from "@/components/storage";
import { useDraft } from "@/lib/draft";
import { TextControl } from "./simpleControls";
import type { ControlProps } from "./types";

/** A path in the storage that the node names: written, or chosen among its folders and files. */
export function StoragePathControl(props: ControlProps) {
  const { field, nodeId, value, onChange } = props;
  const space = useDraft((state) => state.spaceId);
  const storage = useDraft((state) => (nodeId ? state.document.nodes[nodeId]?.params?.storage : undefined));
  return (
    <div className="flex flex-col items-start gap-1.5 *:first:w-full">
      <TextControl {...props} />
      {typeof storage === "string" && (
        <BrowseStorage
          spaceId={space}
          connection={storage}
          wanted={field.name === "path" ? "file" : "folder"}
          value={typeof value === "string" ? value : ""}
          size="sm"
          onChoose={(path) => onChange(path === "" && !field.required ? undefined : path)}
        />
      )}
    </div>
  );
}
