import { useView } from "../model/view";
import { AddMenu } from "./AddMenu";
import { ConnectMenu } from "./ConnectMenu";
import ExtractDialog from "./ExtractDialog";
import { FindNode } from "./FindNode";

/** What opens over the canvas when a user adds, finds, connects or extracts nodes. */
export default function Menus() {
  const asked = useView((state) => state.extracting);
  return (
    <>
      <AddMenu />
      <FindNode />
      <ConnectMenu />
      {asked && <ExtractDialog {...asked} />}
    </>
  );
}
