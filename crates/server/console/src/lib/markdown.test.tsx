import type { ComponentChildren, FunctionComponent, VNode } from "preact";
import { describe, expect, test } from "vitest";

import { Markdown, safeAddress } from "./markdown";

/** Everything that may come out. Whatever the text is, nothing else does. */
const ELEMENTS = new Set(
  "div p h3 h4 h5 h6 ul ol li pre code blockquote hr br strong em del a table thead tbody tr th td".split(" "),
);
const ATTRIBUTES = new Set(["children", "class", "dir", "href", "rel", "target", "title", "start", "scope", "tabIndex", "role", "aria-label"]);

/** What is rendered, as text like HTML; throws on anything that may not come out. */
function rendered(children: ComponentChildren): string {
  if (children === null || children === undefined || typeof children === "boolean") return "";
  if (Array.isArray(children)) return children.map(rendered).join("");
  if (typeof children !== "object") return String(children);
  const { type, props } = children as VNode<Record<string, unknown>>;
  if (typeof type === "function") return rendered((type as FunctionComponent<Record<string, unknown>>)(props) as VNode);
  if (!ELEMENTS.has(type)) throw new Error(`<${type}> came out`);
  const attributes = Object.entries(props).filter(([name]) => name !== "children");
  for (const [name, value] of attributes) {
    if (!ATTRIBUTES.has(name)) throw new Error(`${name} came out`);
    if (name === "href" && !/^(https?:|mailto:)/.test(String(value))) throw new Error(`${String(value)} came out`);
  }
  const { href } = props;
  const inside = rendered(props.children);
  return `<${type}${typeof href === "string" ? ` ${href}` : ""}>${inside}</${type}>`;
}

function markdown(text: string): string {
  return rendered(<Markdown text={text} />).replace(/^<div>(.*)<\/div>$/s, "$1");
}

describe("what summaries are written in", () => {
  test.each([
    ["# Goal\n\nFix **all** of it", "<h3>Goal</h3><p>Fix <strong>all</strong> of it</p>"],
    ["## A\n\n#### B\n\n# C", "<h4>A</h4><h6>B</h6><h3>C</h3>"],
    ["###### six", "<h3>six</h3>"],
    ["- a\n- b `c`", "<ul><li>a</li><li>b <code>c</code></li></ul>"],
    ["3. c\n4. d", "<ol><li>c</li><li>d</li></ol>"],
    ["> quoted", "<blockquote><p>quoted</p></blockquote>"],
    ["```rust\nlet a = 1 < 2;\n```", "<pre><code>let a = 1 < 2;</code></pre>"],
    ["| a | b |\n|---|---|\n| 1 | 2 |", "<div><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table></div>"],
    ["a&amp;b &lt;i&gt; &#65; &#x1F600; &unknown;", "<p>a&b <i> A 😀 &unknown;</p>"],
    ["*a* ~~b~~", "<p><em>a</em> <del>b</del></p>"],
    ["[site](https://example.com/a)", "<p><a https://example.com/a>site</a></p>"],
    ["目标：**完成**", "<p>目标：<strong>完成</strong></p>"],
  ])("%j", (text, expected) => {
    expect(markdown(text)).toBe(expected);
  });
});

describe("nothing that runs or is fetched", () => {
  test.each([
    ["<img src=x onerror=alert(1)>", "<p><img src=x onerror=alert(1)></p>"],
    ["a <script>alert(1)</script> b", "<p>a <script>alert(1)</script> b</p>"],
    ["<svg onload=alert(1)><animate/></svg>", "<p><svg onload=alert(1)><animate/></svg></p>"],
    ["<iframe srcdoc='<script>1</script>'></iframe>", "<p><iframe srcdoc='<script>1</script>'></iframe></p>"],
    ["[x](javascript:alert(1))", "<p>x (javascript:alert(1))</p>"],
    ["[x](JaVaScRiPt:alert(1))", "<p>x (JaVaScRiPt:alert(1))</p>"],
    ["[x](data:text/html,<b>)", "<p>x (data:text/html,<b>)</p>"],
    ["[x](vbscript:a)", "<p>x (vbscript:a)</p>"],
    ["[x](//example.com)", "<p>x (//example.com)</p>"],
    ["![x](https://example.com/pixel.png)", "<p>🖼 x (https://example.com/pixel.png)</p>"],
    ["&lt;script&gt;alert(1)&lt;/script&gt;", "<p><script>alert(1)</script></p>"],
  ])("%j", (text, expected) => {
    // In the expectation, `<script>` is text: an element of that name would have thrown.
    expect(markdown(text).trim()).toBe(expected);
  });

  test("addresses with something hidden in their scheme", () => {
    expect(safeAddress("java\nscript:alert(1)")).toBeNull();
    expect(safeAddress("\u0001javascript:alert(1)")).toBeNull();
    expect(safeAddress("javascript://example.com/%0aalert(1)")).toBeNull();
    expect(safeAddress("https://")).toBeNull();
    expect(safeAddress("ht\ttps://example.com")).toBe("https://example.com");
    expect(safeAddress("mailto:a@example.com")).toBe("mailto:a@example.com");
  });
});

test("nesting and length without end", () => {
  expect(markdown("> ".repeat(500) + "deep")).toContain("deep");
  expect(markdown("*a ".repeat(2000))).toContain("a");
  expect(markdown(`${"- a\n".repeat(3)}${"  ".repeat(300)}- b`)).toContain("b");
  const long = "# a\n".repeat(60_000);
  expect(rendered(<Markdown text={long} />)).toBe(`<pre>${long}</pre>`);
});
