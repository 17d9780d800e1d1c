//! Which extensions there are and what they need is read from the files themselves, and a wrong choice is explained.

#[path = "../src/compose.rs"]
#[allow(dead_code)]
mod compose;

use std::path::{Path, PathBuf};

use compose::{Catalogue, Error};

/// A folder like `tcp/` with files of the test's own.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Folder {
        let folder = clickwork_oracles::unused(&format!("compose-{name}"));
        for (file, text) in files {
            let path = folder.join(file);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a temporary folder");
            std::fs::write(path, text).expect("a temporary file");
        }
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const BASE: &str = "module Base.N { step :> int ::= 1; } module N ::= Base.N;
    module Main has N { static f :> int ::= let n :> N in n.step end; } export Main.f;";
const SLOW: &str =
    "// Adds ten. RFC 5681 §3.1, RFCs 6298 and 7323.\n\n// Needs: nothing.pc, this is no opening comment
    module Slow.N :> super.N { step :> int ::= 10 + super.step; }";
const FAST: &str =
    "// Adds a hundred.\n// Needs: slow.pc\nmodule Fast.N :> super.N { step :> int ::= 100 + super.step; }";

fn three(name: &str) -> Folder {
    Folder::new(
        name,
        &[
            ("all.list", "# all\n@base.list\nextensions/slow.pc\n// and\nextensions/fast.pc\n"),
            ("base.list", "base/n.pc\n"),
            ("base/n.pc", BASE),
            ("extensions/slow.pc", SLOW),
            ("extensions/fast.pc", FAST),
        ],
    )
}

fn words(list: &str) -> Vec<String> {
    list.split_whitespace().map(str::to_string).collect()
}

#[test]
fn the_opening_comment_says_what_an_extension_is_and_needs() {
    let folder = three("opening");
    let catalogue = Catalogue::read(&folder.0).expect("a good folder");
    let [slow, fast] = &catalogue.extensions().collect::<Vec<_>>()[..] else { panic!("two extensions") };
    assert_eq!(slow.about, "Adds ten");
    assert_eq!((&slow.rfcs, &slow.needs), (&vec![5681, 6298, 7323], &vec![]));
    assert_eq!((fast.name.as_str(), &fast.needs), ("fast", &words("slow")));
}

#[test]
fn any_order_of_names_gives_the_order_of_the_list() {
    let folder = three("order");
    let catalogue = Catalogue::read(&folder.0).expect("a good folder");
    let files = catalogue.files(&words("fast.pc slow")).expect("a good subset");
    let names: Vec<_> = files.iter().filter_map(|f| f.file_name()).collect();
    assert_eq!(names, ["n.pc", "slow.pc", "fast.pc"]);
    assert_eq!(catalogue.files(&[]).expect("the base").len(), 1);
    assert_eq!(catalogue.with_needs(&words("fast")).expect("known"), words("slow fast"));
    let output = catalogue.compile(&words("slow"), "out", 3).expect("it compiles");
    assert!(output.header.contains("int f__Main(void);"));
}

#[test]
fn wrong_choices_are_explained() {
    let folder = three("wrong");
    let catalogue = Catalogue::read(&folder.0).expect("a good folder");
    let message = |names: &str| catalogue.files(&words(names)).expect_err("a wrong choice").to_string();
    assert_eq!(message("fast"), "the extension `fast` needs `slow`, which is not there: add it");
    assert_eq!(message("slow fats"), "there is no extension `fats`; there are: slow, fast");
}

#[test]
fn wrong_lists_are_explained() {
    let late = Folder::new(
        "late",
        &[
            ("all.list", "extensions/fast.pc\nextensions/slow.pc\n"),
            ("extensions/slow.pc", SLOW),
            ("extensions/fast.pc", FAST),
        ],
    );
    let error = Catalogue::read(&late.0).expect_err("a wrong order");
    assert_eq!(error.to_string(), "all.list: `fast` needs `slow`, which must stand before it");
    let missing = Catalogue::read(Path::new("/nowhere")).expect_err("no folder");
    assert!(matches!(missing, Error::Read { .. }), "{missing}");
    assert!(missing.to_string().starts_with("/nowhere/all.list: "), "{missing}");
    let broken = Folder::new("broken", &[("all.list", "n.pc\n"), ("n.pc", "module M { f ::= x; }")]);
    let catalogue = Catalogue::read(&broken.0).expect("a list");
    let error = catalogue.compile(&[], "out", 3).expect_err("a program with an error").to_string();
    assert!(error.contains("`x` is not declared") && error.contains("n.pc:1:"), "{error}");
}
