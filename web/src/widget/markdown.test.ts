import { describe, expect, it } from "vitest";
import { markdown } from "./markdown";

const html = (text: string) => {
  const box = document.createElement("div");
  box.append(markdown(text));
  return box.innerHTML;
};

describe("Markdown in a widget", () => {
  it("draws what models write", () => {
    expect(html("# Head\n\nA *b* **c** `d`")).toBe(
      "<h2>Head</h2><p>A <em>b</em> <strong>c</strong> <code>d</code></p>",
    );
    expect(html("- a\n- b\n  - c")).toBe("<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>");
    expect(html("3. a\n4. b")).toBe('<ol start="3"><li>a</li><li>b</li></ol>');
    expect(html("> a\n> b")).toBe("<blockquote><p>a\nb</p></blockquote>");
    expect(html("```py\n<b>\n```\nafter")).toContain("<code>&lt;b&gt;</code></pre><p>after</p>");
    expect(html("| a | b |\n|---|:-:|\n| 1 | 2 |")).toContain("<tbody><tr><td>1</td><td>2</td></tr></tbody>");
  });
  it("takes markup for text", () => {
    expect(html("<img src=x onerror=alert(1)> <script>alert(1)</script>")).toBe(
      "<p>&lt;img src=x onerror=alert(1)&gt; &lt;script&gt;alert(1)&lt;/script&gt;</p>",
    );
  });
  it.each([
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert)",
    "[a](data:text/html,x)",
    "[a](//host)",
    "[a](vbscript:x)",
    "[a](file:///etc/passwd)",
    "[a](&#106;avascript:x)",
  ])("leads nowhere with %s", (text) => expect(html(text)).not.toContain("href"));
  it("opens links of the web elsewhere, telling nothing", () => {
    expect(html("see https://example.org/a.")).toBe(
      '<p>see <a href="https://example.org/a" target="_blank" rel="noopener noreferrer nofollow">https://example.org/a</a>.</p>',
    );
  });
  it("loads no picture", () => expect(html("![a cat](https://example.org/cat.png)")).toBe("<p>[a cat]</p>"));
  it("reads hostile text in time and keeps all of it", () => {
    for (const text of [
      "*".repeat(20_000),
      "[".repeat(20_000),
      "> ".repeat(5_000),
      "`".repeat(9_999),
      "- ".repeat(4_000),
    ]) {
      const before = performance.now();
      expect(html(text).length).toBeGreaterThan(0);
      expect(performance.now() - before).toBeLessThan(3_000);
    }
  });
  it("draws unfinished text as it comes", () => {
    const text = "# A\n\n**b** `c` [d](https://example.org)\n\n| a |\n|---|\n| 1 |\n\n```\ncode\n```";
    for (let end = 0; end <= text.length; end += 1) expect(() => html(text.slice(0, end))).not.toThrow();
  });
});
