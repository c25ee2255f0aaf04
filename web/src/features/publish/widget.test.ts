import { describe, expect, it } from "vitest";
import type { FlowSettings } from "@/api/types";
import { isColor, originsOf, widgetOf, withWidget } from "./widget";

const settings = (widget: FlowSettings["widget"]) => ({ widget }) as FlowSettings;

describe("the settings of a widget", () => {
  it("are read from whatever is stored", () => {
    expect(widgetOf(undefined)).toEqual({ enabled: false, kind: "form", color: "#0f766e", title: "", origins: [] });
    expect(widgetOf(settings({ enabled: "yes", kind: 3, title: ["x"], origins: ["https://a.se", 4] }))).toMatchObject({
      enabled: false,
      kind: "form",
      title: "",
      origins: ["https://a.se"],
    });
  });

  it("keep what we do not know when one is changed", () => {
    expect(withWidget(settings({ welcome_text: "Hej", enabled: false }), { enabled: true })).toEqual({
      welcome_text: "Hej",
      enabled: true,
    });
  });

  it("know a colour and addresses", () => {
    expect([isColor("#0F766e"), isColor("red"), isColor("#fff")]).toEqual([true, false, false]);
    expect(originsOf(" https://a.se\n\nhttps://b.se, *")).toEqual(["https://a.se", "https://b.se", "*"]);
  });
});
