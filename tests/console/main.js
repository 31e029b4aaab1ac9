// Runs the cases, or those whose names contain the first argument, and ends with `N passed, N failed`.

import { Bench } from "./bench.js";
import { accessibility } from "./cases/accessibility.js";
import { compacting } from "./cases/compacting.js";
import { context } from "./cases/context.js";
import { comparing } from "./cases/comparing.js";
import { hostile } from "./cases/hostile.js";
import { languages } from "./cases/languages.js";
import { pictures } from "./cases/pictures.js";
import { proxied } from "./cases/proxied.js";
import { reading } from "./cases/reading.js";
import { searching } from "./cases/searching.js";
import { settings } from "./cases/settings.js";

const wanted = process.argv[2] ?? "";
const cases = [...reading, ...proxied, ...languages, ...context, ...searching, ...compacting, ...comparing, ...settings, ...hostile, ...accessibility, ...pictures];
const bench = await Bench.start();
let passed = 0;
let failed = 0;
for (const [name, run] of cases.filter(([name]) => name.includes(wanted))) {
  try {
    const note = await bench.run(run);
    passed += 1;
    console.log(`ok    ${name}${note ? ` (${note})` : ""}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${name}\n${String(error?.stack ?? error)}`);
  }
}
await bench.stop();
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
