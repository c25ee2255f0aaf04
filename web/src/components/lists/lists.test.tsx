import { fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { ITEM, listKeys, SelectionBar, TARGET, useSelection } from ".";

const IDS = ["a", "b", "c", "d"];

function List({ onDelete }: { onDelete?: (ids: string[]) => void }) {
  const selection = useSelection(IDS);
  return (
    <>
      {/* The links have the focus. */}
      <ul onKeyDown={listKeys(selection, onDelete && (() => onDelete(selection.ids)))}>
        {IDS.map((id) => (
          <li key={id} {...{ [ITEM]: id }}>
            <a href={`#${id}`} {...{ [TARGET]: "" }}>
              {id}
            </a>
            <input aria-label={`box ${id}`} />
          </li>
        ))}
      </ul>
      <output>{selection.ids.join(" ")}</output>
      <SelectionBar count={selection.ids.length} onClear={selection.clear}>
        <button type="button">Act</button>
      </SelectionBar>
    </>
  );
}

const press = (on: string, key: string, more: object = {}) =>
  fireEvent.keyDown(screen.getByRole("link", { name: on }), { key, ...more });
const selected = () => screen.getAllByRole("status")[0]?.textContent;

describe("a list whose items can be selected", () => {
  it("selects with Space and X, a range with Shift, all with Ctrl+A, none with Escape", () => {
    render(<List />);
    press("b", " ");
    expect(selected()).toBe("b");
    press("d", "x", { shiftKey: true });
    expect(selected()).toBe("b c d");
    press("c", " ");
    expect(selected()).toBe("b d");
    press("a", "a", { ctrlKey: true });
    expect(selected()).toBe("a b c d");
    press("a", "Escape");
    expect(selected()).toBe("");
  });
  it("moves with arrows, and extends the selection with Shift", () => {
    render(<List />);
    screen.getByRole("link", { name: "a" }).focus();
    press("a", "ArrowRight");
    expect(screen.getByRole("link", { name: "b" })).toHaveFocus();
    press("b", "ArrowRight", { shiftKey: true });
    expect(screen.getByRole("link", { name: "c" })).toHaveFocus();
    expect(selected()).toBe("b c");
  });
  it("deletes only what is selected, and only where that is offered", () => {
    const onDelete = vi.fn();
    render(<List onDelete={onDelete} />);
    press("a", "Delete");
    expect(onDelete).not.toHaveBeenCalled();
    press("a", " ");
    press("a", "Delete");
    expect(onDelete).toHaveBeenCalledWith(["a"]);
  });
  it("leaves keys of fields in an item alone", () => {
    render(<List />);
    fireEvent.keyDown(screen.getByLabelText("box a"), { key: "x" });
    expect(selected()).toBe("");
  });
  it("shows what can be done while something is selected", () => {
    render(<List />);
    expect(screen.queryByRole("button", { name: "Act" })).toBeNull();
    press("a", " ");
    expect(screen.getByRole("region", { name: "1 selected" })).toBeVisible();
    fireEvent.click(screen.getByRole("button", { name: "Clear selection" }));
    expect(screen.queryByRole("button", { name: "Act" })).toBeNull();
  });
});
