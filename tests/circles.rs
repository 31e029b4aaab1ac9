//! Files of one crate that need each other: how large the circles are, read off the `use` lines and the paths in the code.
//!
//! A file needs the file that defines what it names; a re-export is a door and not a need, and is seen through. Modules for
//! tests do not count.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, UseTree, Visibility};

/// Files that may need each other: a reader holds so many at once.
const MOST_FILES: usize = 3;
/// Re-exports that are followed from a name to its definition, at most.
const MOST_DOORS: usize = 8;

/// Names from the crate's root: `["proxy", "memory"]`; empty for the root itself.
type Module = Vec<String>;

/// A path in the code of a module.
struct Mention {
    /// The module that the path begins at.
    from: Module,
    names: Vec<String>,
    /// Whether it says where it begins; else it may be of another crate.
    is_of_this_crate: bool,
}

/// What one file says of others.
#[derive(Default)]
struct Outline {
    needs: Vec<Mention>,
    /// What is re-exported, by the name that others see; `*` holds the modules of which all is.
    doors: BTreeMap<String, Vec<Mention>>,
}

struct Reader<'a> {
    /// The module of the file.
    module: &'a Module,
    /// Modules within the file, around the place that is being read.
    inner: Vec<String>,
    outline: Outline,
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    let is_test = |attribute: &Attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|condition| condition == "test")
    };
    attributes.iter().any(is_test)
}

/// Every path of a tree, with the name under which its last part is known.
fn leaves(tree: &UseTree, before: &[String], out: &mut Vec<(Vec<String>, String)>) {
    let with = |name: &syn::Ident| before.iter().cloned().chain([name.to_string()]).collect::<Vec<_>>();
    match tree {
        UseTree::Path(path) => leaves(&path.tree, &with(&path.ident), out),
        UseTree::Name(name) if name.ident == "self" => {
            out.push((before.to_vec(), before.last().cloned().unwrap_or_default()));
        }
        UseTree::Name(name) => out.push((with(&name.ident), name.ident.to_string())),
        UseTree::Rename(rename) if rename.ident == "self" => out.push((before.to_vec(), rename.rename.to_string())),
        UseTree::Rename(rename) => out.push((with(&rename.ident), rename.rename.to_string())),
        UseTree::Glob(_) => out.push((before.to_vec(), "*".to_owned())),
        UseTree::Group(group) => group.items.iter().for_each(|item| leaves(item, before, out)),
    }
}

impl Reader<'_> {
    /// Where `names` begin, with the words that say so taken off.
    fn mention(&self, names: &[String]) -> Mention {
        let here = || self.module.iter().chain(&self.inner).cloned().collect::<Vec<_>>();
        let mut from = match names.first().map(String::as_str) {
            Some("crate") => return Mention { from: Vec::new(), names: names[1..].to_vec(), is_of_this_crate: true },
            _ => here(),
        };
        let mut rest = names;
        while let Some(first) = rest.first() {
            match first.as_str() {
                "self" => {}
                "super" => {
                    from.pop();
                }
                _ => break,
            }
            rest = &rest[1..];
        }
        Mention { from, names: rest.to_vec(), is_of_this_crate: rest.len() < names.len() }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Mod(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !is_for_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        self.inner.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.inner.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let mut found = Vec::new();
        leaves(&item.tree, &[], &mut found);
        for (names, name) in found {
            let mention = self.mention(&names);
            match item.vis {
                Visibility::Inherited => self.outline.needs.push(mention),
                _ => self.outline.doors.entry(name).or_default().push(mention),
            }
        }
    }

    /// `pub(in crate::room)` says who sees an item, and needs nothing.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        // `child::function()` is a need without a word that says where it begins, and so is the bare name of a re-export.
        let mention = self.mention(&names);
        self.outline.needs.push(mention);
        visit::visit_path(self, path);
    }
}

/// A crate's files by their modules.
fn files(source: &Path) -> BTreeMap<Module, PathBuf> {
    let mut found = BTreeMap::new();
    let mut folders = vec![source.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Some("rs") = path.extension().and_then(|end| end.to_str()) else { continue };
            let inside = path.strip_prefix(source).unwrap().with_extension("");
            let mut module: Module = inside.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
            let is_root = module == ["lib"] || module == ["main"] && !source.join("lib.rs").exists();
            if module.last().is_some_and(|last| last == "mod") || is_root {
                module.pop();
            }
            found.insert(module, path);
        }
    }
    found
}

struct Crate {
    outlines: BTreeMap<Module, Outline>,
}

impl Crate {
    fn read(source: &Path) -> Self {
        let is_test = |module: &Module| module.iter().any(|name| name == "tests" || name.ends_with("_tests"));
        let outlines = files(source)
            .into_iter()
            .filter(|(module, _)| !is_test(module))
            .map(|(module, path)| {
                let file = syn::parse_file(&fs::read_to_string(&path).unwrap())
                    .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                let mut reader = Reader { module: &module, inner: Vec::new(), outline: Outline::default() };
                reader.visit_file(&file);
                let outline = reader.outline;
                (module, outline)
            })
            .collect();
        Self { outlines }
    }

    /// The modules that define what `mention` names; none for what another crate defines.
    fn targets(&self, mention: &Mention, depth: usize) -> BTreeSet<&Module> {
        let mut at = mention.from.clone();
        let mut names = mention.names.as_slice();
        // A module within a file is of the file.
        while !self.outlines.contains_key(&at) {
            at.pop();
        }
        while let Some((first, rest)) = names.split_first() {
            let mut child = at.clone();
            child.push(first.clone());
            // A bare name in the code may be that of a variable: only a re-export makes it one of another file.
            let may_be_variable = mention.names.len() == 1 && !mention.is_of_this_crate;
            if self.outlines.contains_key(&child) && !may_be_variable {
                (at, names) = (child, rest);
                continue;
            }
            let doors = &self.outlines[&at].doors;
            if depth == 0 {
                break;
            }
            if let Some(through) = doors.get(first) {
                let onward = |door: &Mention| Mention {
                    from: door.from.clone(),
                    names: door.names.iter().chain(rest).cloned().collect(),
                    is_of_this_crate: door.is_of_this_crate,
                };
                return through.iter().flat_map(|door| self.targets(&onward(door), depth - 1)).collect();
            }
            break;
        }
        if !mention.is_of_this_crate && names.len() == mention.names.len() {
            return BTreeSet::new();
        }
        self.outlines.get_key_value(&at).map(|(module, _)| module).into_iter().collect()
    }

    /// The files that each file needs.
    fn needs(&self) -> BTreeMap<&Module, BTreeSet<&Module>> {
        let needs_of = |module, outline: &Outline| {
            let targets = outline.needs.iter().flat_map(|mention| self.targets(mention, MOST_DOORS));
            targets.filter(|target| *target != module).collect()
        };
        self.outlines.iter().map(|(module, outline)| (module, needs_of(module, outline))).collect()
    }

    /// Sets of files of which each needs each other, over others or straight, the largest first.
    fn circles(&self) -> Vec<Vec<String>> {
        let mut graph = DiGraph::<&Module, ()>::new();
        let nodes: BTreeMap<&Module, _> = self.outlines.keys().map(|module| (module, graph.add_node(module))).collect();
        for (module, targets) in self.needs() {
            for target in targets {
                graph.add_edge(nodes[module], nodes[target], ());
            }
        }
        let mut circles: Vec<Vec<String>> = tarjan_scc(&graph)
            .into_iter()
            .filter(|circle| circle.len() > 1)
            .map(|circle| circle.into_iter().map(|node| name(graph[node])).collect())
            .collect();
        circles.iter_mut().for_each(|circle| circle.sort());
        circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
        circles
    }
}

fn name(module: &Module) -> String {
    if module.is_empty() { "lib".to_owned() } else { module.join("/") }
}

fn crates() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    for room in ["crates", "strategies"] {
        let folders = fs::read_dir(root.join(room)).unwrap().map(|entry| entry.unwrap().path());
        found
            .extend(folders.filter(|folder| folder.join("src/lib.rs").exists() || folder.join("src/main.rs").exists()));
    }
    found.sort();
    found
}

#[test]
fn no_circle_is_too_large_to_hold_in_mind() {
    let crates = crates();
    assert!(crates.len() > 30, "{} crates", crates.len());
    let mut too_large = Vec::new();
    for folder in crates {
        let read = Crate::read(&folder.join("src"));
        for circle in read.circles().into_iter().filter(|circle| circle.len() > MOST_FILES) {
            let room = folder.file_name().unwrap().to_string_lossy();
            too_large.push(format!("{room}: {} files need each other:", circle.len()));
            for (module, targets) in read.needs().into_iter().filter(|(module, _)| circle.contains(&name(module))) {
                let inside: Vec<String> = targets.into_iter().map(name).filter(|it| circle.contains(it)).collect();
                too_large.push(format!("    {} → {}", name(module), inside.join(", ")));
            }
        }
    }
    assert!(too_large.is_empty(), "at most {MOST_FILES} files of a circle:\n{}", too_large.join("\n"));
}

/// The circles of a crate that is made of `files`.
#[track_caller]
fn check(files: &[(&str, &str)], expect: &[&[&str]]) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    assert_eq!(Crate::read(folder.path()).circles(), expect);
}

#[test]
fn needs_are_what_is_named_and_not_who_shows_it() {
    let lib = ("lib.rs", "mod a;\nmod b;\npub use a::A;\npub use b::B;");
    check(&[lib, ("a.rs", "use crate::B;"), ("b.rs", "")], &[]);
    check(&[lib, ("a.rs", "use crate::B;"), ("b.rs", "use super::{A, c};")], &[&["a", "b"]]);
    check(&[lib, ("a.rs", "fn f() { crate::b::g() }"), ("b.rs", "fn g() -> super::A {}")], &[&["a", "b"]]);
    check(&[lib, ("a.rs", "use crate::B;"), ("b.rs", "pub(in crate::a) struct B;")], &[]);
    check(&[lib, ("a.rs", "use std::fmt;"), ("b.rs", "use b::C;")], &[]);
    check(&[("lib.rs", "mod a;\nuse a::A;\nstruct L;"), ("a.rs", "use crate::L;")], &[&["a", "lib"]]);
    check(&[("lib.rs", "mod a;\nuse a::A;\nstruct L;"), ("a.rs", "#[cfg(test)]\nmod tests {\nuse crate::L;\n}")], &[]);
    check(&[("lib.rs", "mod a;\nfn l() { a::f() }"), ("a.rs", "fn f() { crate::l() }")], &[&["a", "lib"]]);
    check(&[("lib.rs", "mod a;\npub use a::A;\nfn l() -> A {}"), ("a.rs", "use crate::l;")], &[&["a", "lib"]]);
    check(&[("lib.rs", "mod a;\nfn l() { let a = 1; a }"), ("a.rs", "use crate::l;")], &[]);
    let nested = [("lib.rs", "mod a;"), ("a/mod.rs", "mod b;\nuse b::B;\nstruct A;"), ("a/b.rs", "use super::A;")];
    check(&nested, &[&["a", "a/b"]]);
}
