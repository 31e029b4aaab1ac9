// Builds the package: the native part for this machine, the JavaScript as ESM and CommonJS, their types.
//
//   node scripts/build.mjs [--profile NAME] [--no-native]
//
// `--profile` is cargo's (`release` without), `--no-native` leaves the native part as it is. WebAssembly: build-wasm.mjs.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const home = join(dirname(fileURLToPath(import.meta.url)), "..");
const workspace = join(home, "../..");
const require = createRequire(import.meta.url);
const { values: options } = parseArgs({
  options: { profile: { type: "string", default: "release" }, "no-native": { type: "boolean", default: false } },
});

if (!options["no-native"]) buildNative(options.profile);
buildScripts();

function buildNative(profile) {
  const words = ["build", "--locked", "--package", "epitome-node", "--features", "packed-vocabularies", "--profile", profile];
  run("cargo", words, workspace);
  const target = process.env.CARGO_TARGET_DIR ?? join(workspace, "target");
  const folder = profile === "dev" ? "debug" : profile;
  const [prefix, ending] = { darwin: ["lib", "dylib"], win32: ["", "dll"] }[process.platform] ?? ["lib", "so"];
  const built = join(target, folder, `${prefix}epitome_node.${ending}`);
  mkdirSync(join(home, "native"), { recursive: true });
  // Renamed over the old one: a process that has that loaded keeps it.
  const place = join(home, "native", `${nameOfPlatform()}.node`);
  copyFileSync(built, `${place}.new`);
  renameSync(`${place}.new`, place);
}

/** As src/node.ts looks it up. */
function nameOfPlatform() {
  const { platform, arch } = process;
  if (platform !== "linux") return `${platform}-${arch}`;
  return `${platform}-${arch}-${process.report.getReport().header.glibcVersionRuntime === undefined ? "musl" : "gnu"}`;
}

function buildScripts() {
  rmSync(join(home, "dist"), { recursive: true, force: true });
  const tsc = join(dirname(require.resolve("typescript/package.json")), "bin/tsc");
  run(process.execPath, [tsc, "--project", "src/tsconfig.json"], home);
  run(process.execPath, [tsc, "--project", "src/tsconfig.cjs.json"], home);
  writeFileSync(join(home, "dist/cjs/package.json"), '{ "type": "commonjs" }\n');
  // Node loads one copy, whoever asks: an error that `require` gave is an instance of what `import` gives.
  rmSync(join(home, "dist/esm/node.js"));
  const names = Object.keys(require(join(home, "dist/cjs/node.js"))).sort();
  const lines = ['import all from "./cjs/node.js";', `export const { ${names.join(", ")} } = all;`, ""];
  writeFileSync(join(home, "dist/node.mjs"), lines.join("\n"));
}

function run(program, words, folder) {
  execFileSync(program, words, { cwd: folder, stdio: "inherit" });
}
