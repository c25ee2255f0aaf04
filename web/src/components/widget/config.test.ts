import { describe, expect, it } from "vitest";
import { configOf, originsOf, snippetOf } from "./config";

describe("settings of a widget", () => {
  it("are whole, whatever a draft holds", () => {
    expect(configOf(undefined).enabled).toBe(false);
    const odd = configOf({ enabled: "yes", kind: 7, color: "red", theme: "blue", title: 3, origins: "x" });
    expect(odd).toEqual(configOf({}));
    expect(configOf({ enabled: true, kind: "chat", color: "#FFE600" })).toMatchObject({ enabled: true, kind: "chat" });
  });
});

describe("pages that may show it", () => {
  it("are read line by line", () => {
    expect(originsOf(" https://a.example.org/ \n\nhttp://127.0.0.1:8080\nhttps://*.example.org\n*")).toEqual({
      origins: ["https://a.example.org", "http://127.0.0.1:8080", "https://*.example.org", "*"],
      wrong: "",
    });
  });
  it.each(["example.org", "https://example.org/path", "javascript:alert(1)", "https://a b", "https://a;b"])(
    "are not %s",
    (line) => expect(originsOf(line)).toEqual({ origins: [], wrong: line }),
  );
});

describe("the line for outside pages", () => {
  it("stays one line of HTML, whatever the title is", () => {
    const config = configOf({ title: '"><script>alert(1)</script>' });
    expect(snippetOf("https://h", "id", config, true)).not.toContain("<script>alert");
    expect(snippetOf("https://h", "id", config, false)).toBe(
      '<script src="https://h/widget.js" data-flow="id" async></script>',
    );
  });
});
