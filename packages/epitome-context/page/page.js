// What the page shows. The engine works in a worker (worker.js); texts of a session are shown as text, never as markup.
const MOST_EDITS = 200;

const at = (id) => document.getElementById(id);
const number = new Intl.NumberFormat("en");
const worker = new Worker("worker.js", { type: "module" });
const waiting = new Map();
let [questions, file, url] = [0, undefined, undefined];

worker.onmessage = ({ data: { id, value, error } }) => {
  const { resolve, reject } = waiting.get(id);
  waiting.delete(id);
  if (error === undefined) resolve(value);
  else reject(new Error(error));
};
worker.onerror = (event) => fail(`The engine could not be loaded: ${event.message ?? "its files are missing"}`);

function ask(name, words = {}) {
  const id = questions++;
  worker.postMessage({ id, name, ...words });
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

function say(text) {
  at("state").className = "state";
  at("state").textContent = text;
}

function fail(text) {
  at("state").className = "state failed";
  at("state").textContent = text;
  at("result").hidden = true;
}

/** Tokens, or a part of what the session takes. */
function budgetOf(text) {
  const percent = /^\s*(\d+(?:\.\d+)?)\s*%\s*$/.exec(text);
  if (percent !== null && Number(percent[1]) > 0 && Number(percent[1]) < 100) return Number(percent[1]) / 100;
  const tokens = /^\s*(\d[\d,]*)\s*(k?)\s*$/i.exec(text);
  const value = tokens === null ? 0 : Number(tokens[1].replaceAll(",", "")) * (tokens[2] === "" ? 1 : 1_000);
  if (value >= 1) return value;
  throw new Error(`“${text}” is not a budget: give tokens, such as 30000 or 30k, or a share, such as 30 %.`);
}

function element(name, text, ...children) {
  const made = document.createElement(name);
  if (text !== null) made.textContent = text;
  made.append(...children);
  return made;
}

function bar(name, tokens, most, messages) {
  const meter = element("meter", null);
  Object.assign(meter, { min: 0, max: Math.max(most, 1), value: tokens });
  meter.setAttribute("aria-label", name);
  const figure = `${number.format(tokens)} tokens${messages === null ? "" : `, ${number.format(messages)} messages`}`;
  return [element("dt", name), element("dd", null, meter), element("dd", figure)];
}

function row(edit) {
  const recall = element("td", null);
  if (edit.recall !== null) {
    const button = element("button", edit.recall);
    button.type = "button";
    button.onclick = () => show(edit.recall);
    recall.append(button);
  }
  const { reason, messages } = edit;
  return element(
    "tr",
    null,
    element("td", number.format(edit.tokens_saved)),
    element("td", edit.edit),
    element("td", number.format(messages.length)),
    element("td", `${reason.code}: ${reason.detail}`),
    recall,
  );
}

async function show(handle) {
  const left = await ask("retrieve", { handle });
  at("recalled-title").textContent = `What left under ${handle}`;
  at("recalled-text").textContent = typeof left === "string" ? left : JSON.stringify(left, null, 2);
  at("recalled").showModal();
}

const TITLES = {
  "no-change": "It fits as it is",
  compacted: "Compacted",
  "near-empty": "Compacted, and nothing of its subject is left",
  "rolled-back": "Nothing was changed: too much would be lost",
};

function present({ data, format, report, warnings }, took) {
  const { task, chain, steps } = report;
  at("result-title").textContent = `${file.name}: ${TITLES[report.status]}`;
  at("bars").replaceChildren(
    ...bar("before", report.tokens_before, report.tokens_before, report.messages_before),
    ...bar("after", report.tokens_after, report.tokens_before, report.messages_after),
    ...bar("budget", Math.min(report.budget, report.tokens_before), report.tokens_before, null).slice(0, 2),
    element("dd", `${number.format(report.budget)} tokens`),
  );
  const did = steps.filter((step) => step.edits > 0).map((step) => step.strategy);
  at("figures").textContent =
    `task: ${task.kind} (${task.confidence.toFixed(2)}) · ` +
    `chain: ${(did.length > 0 ? did : chain).join(" → ")} · ` +
    `counted by ${report.counter} · ${(took / 1_000).toFixed(1)} s`;
  if (url !== undefined) URL.revokeObjectURL(url);
  url = URL.createObjectURL(new Blob([data]));
  const ending = ["claude-code", "codex", "pi"].includes(format) ? "jsonl" : "json";
  at("download").href = url;
  at("download").download = `${file.name.replace(/(\.(jsonl?|gz|txt|md))+$/, "")}-compacted.${ending}`;
  at("warnings").replaceChildren(...warnings.map((warning) => element("li", warning)));
  const edits = [...report.edits].sort((one, other) => other.tokens_saved - one.tokens_saved);
  at("edits").replaceChildren(...edits.slice(0, MOST_EDITS).map(row));
  at("more").textContent = edits.length > MOST_EDITS ? `and ${number.format(edits.length - MOST_EDITS)} more` : "";
  at("result").hidden = false;
}

async function run() {
  at("go").disabled = true;
  try {
    const options = { budget: budgetOf(at("budget").value) };
    if (at("to").value !== "") options.to = at("to").value;
    if (at("name").value.trim() !== "") options.name = at("name").value.trim();
    say(`Compacting ${file.name} …`);
    const bytes = new Uint8Array(await file.arrayBuffer());
    const started = performance.now();
    const result = await ask("compact", { bytes, options });
    say("Done, in this page. Nothing was sent.");
    present(result, performance.now() - started);
  } catch (error) {
    fail(error.message);
  } finally {
    at("go").disabled = file === undefined;
  }
}

function take(given) {
  if (given === undefined) return;
  file = given;
  void run();
}

at("form").onsubmit = (event) => {
  event.preventDefault();
  if (file !== undefined) void run();
};
at("file").onchange = () => take(at("file").files[0]);
for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    at("drop").classList.toggle("over", kind === "dragover");
    if (kind === "drop") take(event.dataTransfer.files[0]);
  });
}

try {
  for (const { name, about } of await ask("formats")) {
    const option = element("option", `${name}: ${about}`);
    option.value = name;
    at("to").append(option);
  }
  say("Ready.");
} catch (error) {
  fail(`The engine could not be loaded: ${error.message}`);
}
