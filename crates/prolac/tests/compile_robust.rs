//! The whole compiler on programs that something was done to: it must neither panic nor write C when there are errors.
//! The programs are those of the other tests; a token is taken out, doubled, exchanged for another one of the same
//! program, or a piece is moved.

#[path = "../../../fuzz/checks/compile.rs"]
mod compile;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use clickwork_prolac::emit::Output;
use clickwork_prolac::syntax::tokenize;
use clickwork_source::Sources;

/// Programs made of each program.
const VARIANTS: u64 = 12;

/// A generator of numbers, the same on every machine (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % limit.max(1) as u64) as usize
    }
}

fn programs() -> Vec<String> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let folders = ["check", "optimize", "programs/right", "programs/wrong"];
    let files =
        folders.iter().flat_map(|folder| std::fs::read_dir(tests.join(folder)).expect("a folder of tests"));
    let mut paths: Vec<_> = files.map(|entry| entry.expect("a file").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "pc"));
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("a program")).collect()
}

fn tokens(text: &str) -> Vec<String> {
    let mut sources = Sources::new();
    let file = sources.add("t.pc", text);
    tokenize(&sources, file).list.iter().map(|token| token.text(text).to_string()).collect()
}

fn mutilate(text: &str, random: &mut Random) -> String {
    let mut tokens = tokens(text);
    for _ in 0..1 + random.below(3) {
        let (i, j) = (random.below(tokens.len()), random.below(tokens.len()));
        match random.below(4) {
            0 if tokens.len() > 1 => drop(tokens.remove(i)),
            1 => tokens.insert(i, tokens[i].clone()),
            2 => tokens.swap(i, j),
            _ => tokens[i] = tokens[j].clone(),
        }
    }
    tokens.concat()
}

/// Compilers of programs run on a large stack, as `prolacc` does.
fn on_large_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(work).expect("a thread");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn mutilated_programs_are_compiled_or_refused() {
    on_large_stack(|| {
        let mut random = Random(2026);
        let (mut compiled, mut refused) = (0, 0);
        for program in programs() {
            for _ in 0..VARIANTS {
                let text = mutilate(&program, &mut random);
                let shown = text.clone();
                let result = std::panic::catch_unwind(move || compile::compile(&text, 3));
                match result {
                    Ok(None) => refused += 1,
                    Ok(Some(_)) => compiled += 1,
                    Err(panic) => {
                        eprintln!("this program makes the compiler panic:\n{shown}");
                        std::panic::resume_unwind(panic);
                    }
                }
            }
        }
        assert!(compiled > 50 && refused > 500, "{compiled} compiled, {refused} refused");
    });
}

#[test]
fn every_seed_of_the_fuzz_target_passes() {
    on_large_stack(|| {
        let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/compile_prolac");
        let files = std::fs::read_dir(seeds).expect("the seeds are part of the repository");
        let texts: Vec<_> =
            files.map(|f| std::fs::read(f.expect("a seed").path()).expect("a text")).collect();
        assert!(texts.len() >= 4, "only {} seeds", texts.len());
        texts.iter().for_each(|text| compile::check(text));
    });
}

#[test]
fn every_program_of_the_tests_goes_through_all_levels() {
    on_large_stack(|| programs().iter().for_each(|program| compile::check(program.as_bytes())));
}

/// Whatever is accepted gives C that compiles without a warning, unless the program has C code of its own.
#[test]
fn mutilated_programs_that_are_accepted_give_correct_c() {
    on_large_stack(|| {
        let mut random = Random(1999);
        let mut compiled = 0;
        for program in programs() {
            for level in [0, 3] {
                let text = mutilate(&program, &mut random);
                if let Some((output, false)) = compile::compile(&text, level) {
                    check_c(&text, &output);
                    compiled += 1;
                }
            }
        }
        assert!(compiled > 20, "{compiled} compiled");
    });
}

/// Mistakes of the program itself, which C compilers find and Prolac leaves to the programmer.
const OWN_MISTAKES: [&str; 11] = [
    "-Wno-return-local-addr",
    "-Wno-dangling-pointer",
    "-Wno-uninitialized",
    "-Wno-maybe-uninitialized",
    "-Wno-div-by-zero",
    "-Wno-array-bounds",
    "-Wno-infinite-recursion",
    "-Wno-stringop-overflow",
    "-Wno-tautological-compare",
    "-Wno-type-limits",
    "-Wno-int-in-bool-context",
];

fn check_c(text: &str, output: &Output) {
    let c = output.source.replace("#include \"fuzz.h\"", &output.header);
    let flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-S", "-o", "/dev/null", "-x", "c", "-"];
    let mut cc = Command::new("cc")
        .args(flags)
        .args(OWN_MISTAKES)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("cc runs");
    cc.stdin.take().expect("a pipe").write_all(c.as_bytes()).expect("cc reads");
    let result = cc.wait_with_output().expect("cc ends");
    let messages = String::from_utf8_lossy(&result.stderr);
    assert!(result.status.success(), "the C of this program is wrong:\n{text}\n{messages}\n{c}");
}
