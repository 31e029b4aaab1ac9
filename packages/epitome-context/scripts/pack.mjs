// Makes the tarballs that npm installs: `epitome-context`, and `epitome-context-PLATFORM` for each native part there is.
//
//   node scripts/pack.mjs --out FOLDER [--without-module]
//
// `--without-module` leaves the WebAssembly module out: for tests where it cannot be built.
// build.mjs (and build-wasm.mjs) made what is packed: dist/, native/PLATFORM.node, native/epitome-context.wasm. The main package
// names the others as optional dependencies: npm installs the one that fits, and where none does, the module is loaded.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const home = join(dirname(fileURLToPath(import.meta.url)), "..");
const workspace = join(home, "../..");
const legal = ["LICENSE-MIT", "LICENSE-APACHE", "NOTICE"];
const { values: options } = parseArgs({
  options: { out: { type: "string" }, "without-module": { type: "boolean", default: false } },
});
if (options.out === undefined) fail("--out names the folder for the tarballs");
const out = resolve(options.out);
mkdirSync(out, { recursive: true });

const { private: _, devDependencies, scripts, ...manifest } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
const natives = readdirSync(join(home, "native")).filter((file) => file.endsWith(".node"));
if (natives.length === 0) fail("native/ has no PLATFORM.node: run scripts/build.mjs");
const parts = ["dist", ...(options["without-module"] ? [] : ["native/epitome-context.wasm"])];
for (const part of parts) {
  if (!existsSync(join(home, part))) fail(`${part} is not built: run scripts/build.mjs and scripts/build-wasm.mjs`);
}

const platforms = natives.map((file) => file.slice(0, -".node".length)).sort();
for (const platform of platforms) {
  const [os, cpu, abi] = platform.split("-");
  const { name, version, description, license, repository, homepage, engines } = manifest;
  const own = {
    name: `${name}-${platform}`,
    version,
    description: `The native part of ${name} for ${platform}. ${description}`,
    license,
    repository,
    homepage,
    engines,
    os: [os],
    cpu: [cpu],
    ...(os === "linux" && { libc: [abi === "gnu" ? "glibc" : "musl"] }),
    main: "epitome-context.node",
    files: ["epitome-context.node", ...legal],
  };
  const page = `# ${own.name}\n\nThe native part of the package \`${name}\` for ${platform}, which npm installs with it.\n`;
  pack(own, [[join(home, "native", `${platform}.node`), "epitome-context.node"]], page);
}
const main = {
  ...manifest,
  files: ["dist", "native", ...legal],
  optionalDependencies: Object.fromEntries(platforms.map((platform) => [`${manifest.name}-${platform}`, manifest.version])),
};
pack(main, parts.map((part) => [join(home, part), part]), readFileSync(join(home, "README.md")));

/** A package in a folder of its own, from its manifest, its files (from where, as what) and its page. */
function pack(manifest, files, page) {
  const folder = join(workspace, "target/npm", manifest.name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [from, to] of files) cpSync(from, join(folder, to), { recursive: true });
  // Copies: npm packs no links.
  for (const file of legal) cpSync(join(workspace, file), join(folder, file));
  writeFileSync(join(folder, "README.md"), page);
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  execFileSync("npm", ["pack", "--silent", "--pack-destination", out], { cwd: folder, stdio: "inherit", shell: process.platform === "win32" });
}

function fail(problem) {
  console.error(problem);
  process.exit(1);
}
