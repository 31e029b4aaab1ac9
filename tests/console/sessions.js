// Sessions that the cases use. All of it is made up.

const WORDS = "the parser reads a line and the writer keeps its order while the index grows by one entry at a time".split(" ");

/** A text of about so many tokens, in lines, never the same twice for different seeds. */
export function text(tokens, seed = 0) {
  const words = Array.from({ length: tokens }, (_, at) => WORDS[(at * 7 + seed) % WORDS.length]);
  const lines = [];
  while (words.length > 0) lines.push(words.splice(0, 12).join(" "));
  return lines.join("\n");
}

let talks = 0;

/**
 * A conversation of so many rounds, each of about so many tokens. No two are the same: summaries of equal texts are
 * written once.
 */
export function talk(rounds, tokens) {
  talks += 1;
  return Array.from({ length: rounds }, (_, at) => [
    { role: "user", content: `Question ${at + 1} of talk ${talks}: ${text(Math.ceil(tokens / 2), at)}` },
    { role: "assistant", content: `Answer ${at + 1}: ${text(Math.ceil(tokens / 2), at + 3)}` },
  ]).flat();
}

/** A session with tool calls, one result of which is so long that it is cut. */
export function toolWork(lines = 900) {
  const call = (id, name, args) => ({
    role: "assistant",
    content: null,
    tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(args) } }],
  });
  const log = Array.from({ length: lines }, (_, at) => `${at + 1} step ${at * 37} of the build took ${at % 90} ms`);
  log[Math.floor(lines / 2)] = "error: the parser stopped at a brace";
  return [
    { role: "user", content: "Find out why the build fails." },
    call("a", "read_log", { path: "build.log" }),
    { role: "tool", tool_call_id: "a", content: log.join("\n") },
    { role: "assistant", content: "The parser stops at a brace." },
    ...talk(4, 300),
    { role: "user", content: "And now the tests." },
  ];
}

const SCRIPTS = [
  "<img src=x onerror=alert(1)>",
  "<script>alert(1)</script>",
  "<svg onload=alert(1)></svg>",
  "<iframe srcdoc='<script>parent.alert(1)</script>'></iframe>",
  "[link](javascript:alert(1))",
  "[link](data:text/html,<script>alert(1)</script>)",
  "![pixel](http://127.0.0.1:9/pixel.png)",
  "<a href='javascript:alert(1)'>a</a>",
  "<style>*{display:none}</style>",
  "<base href='http://127.0.0.1:9/'>",
  "<form action='http://127.0.0.1:9/'><input></form>",
  "\"><b onmouseover=alert(1)>b</b>",
];

/** Markup and scripts of the usual kinds. */
export const hostileText = SCRIPTS.join("\n\n");

/** A session that tries to be a page in every field that a session has. */
export function hostileSession() {
  const name = "<img src=x onerror=alert(1)>";
  return [
    { role: "user", content: hostileText },
    {
      role: "assistant",
      content: hostileText,
      tool_calls: [{ id: name, type: "function", function: { name: "run", arguments: JSON.stringify({ [name]: hostileText }) } }],
    },
    { role: "tool", tool_call_id: name, content: `${hostileText}\n[… 2 lines elided · recall "onclick="alert(1)]` },
    { role: "assistant", content: [{ type: "text", text: hostileText }] },
    { role: "user", content: [{ type: "image_url", image_url: { url: "javascript:alert(1)" } }, { type: "text", text: "a" }] },
    ...talk(5, 2_500),
    // So near to the end that a hand-off stands for it.
    { role: "user", content: hostileText },
    { role: "assistant", content: hostileText },
    ...talk(1, 2_500),
    { role: "user", content: hostileText },
  ];
}
