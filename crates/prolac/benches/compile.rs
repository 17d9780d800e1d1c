//! How long compiling takes, stage by stage: a made program of the size and shape of the paper's TCP (40 modules, 500
//! methods, 2,000 lines), and one ten times as large; with `--deep`, its chains are ten times as long instead.
//! `cargo bench -p clickwork-prolac --bench compile`; with `-- --write SCALE` it only prints the program, with
//! `-- SCALE...` other sizes are measured.

use std::fmt::Write;
use std::time::{Duration, Instant};

use clickwork_prolac::analyze::{Reach, warnings};
use clickwork_prolac::check::check;
use clickwork_prolac::emit;
use clickwork_prolac::optimize::{Options, optimize};
use clickwork_prolac::program::Target;
use clickwork_prolac::syntax::parse;
use clickwork_source::{Diagnostics, Sources};

/// What to make.
#[derive(Clone, Copy)]
struct Shape {
    /// Protocols beside each other.
    protocols: usize,
    /// Extensions of the connection, one on the other.
    layers: usize,
    /// Modules that work on a connection and a segment.
    controls: usize,
}

impl Shape {
    /// As many protocols as `scale`.
    fn broad(scale: usize) -> Shape {
        Shape { protocols: scale, layers: 10, controls: 28 }
    }

    /// One protocol with chains that are `scale` times as long.
    fn deep(scale: usize) -> Shape {
        Shape { protocols: 1, layers: 10 * scale, controls: 28 * scale }
    }
}

/// Protocols of 40 modules each.
fn program(shape: Shape) -> String {
    let mut text = String::new();
    for protocol in 0..shape.protocols {
        segment(&mut text, protocol);
        connection(&mut text, shape, protocol);
        (0..shape.controls).for_each(|control| self::control(&mut text, shape, protocol, control));
    }
    text
}

fn segment(text: &mut String, p: usize) {
    let methods: String =
        (0..20).map(|i| format!("  part-{i} :> uint ::=\n    (word-{} >> {i}) & 255;\n", i % 4)).collect();
    write!(
        text,
        "module P{p}.Segment {{\n  field word-0 :> uint @ 0;\n  field word-1 :> uint @ 4;\n  field word-2 :> uint @ 8;\n  \
         field word-3 :> uint @ 12;\n{methods}}}\nmodule P{p}.Signals {{\n  exception drop;\n  exception again;\n}}\n"
    )
    .unwrap();
}

fn connection(text: &mut String, shape: Shape, p: usize) {
    for layer in 0..shape.layers {
        let (parent, parts) = match layer {
            0 => (String::new(), "count-0 = 0".to_string()),
            _ => {
                writeln!(text, "module P{p}.Parent{layer} ::= Layer{};", layer - 1).unwrap();
                (format!(":> Parent{layer} "), format!("Parent{layer}(), count-{layer} = 0"))
            }
        };
        writeln!(text, "module P{p}.Layer{layer} {parent}{{").unwrap();
        writeln!(
            text,
            "  field count-{layer} :> uint;\n  field at-{layer} :> seqint;\n  field flag-{layer} :> bool;"
        )
        .unwrap();
        writeln!(text, "  constructor ::= {parts}, at-{layer} = 0, flag-{layer} = false;").unwrap();
        for hook in ["send-hook", "ack-hook", "time-hook"] {
            let rest = if layer == 0 { String::new() } else { format!(",\n    super.{hook}(n)") };
            writeln!(text, "  {hook}(n :> uint) :> void ::=\n    count-{layer} += n{rest};").unwrap();
        }
        for i in 0..5 {
            writeln!(
                text,
                "  // Question {i} of the layer.\n  is-{layer}-{i}(n :> uint) :> bool ::=\n    flag-{layer} && n > {i} && count-{layer} < {};",
                100 * i + 7
            )
            .unwrap();
            writeln!(
                text,
                "  // What follows from it.\n  do-{layer}-{i}(n :> uint) :> void ::=\n    is-{layer}-{i}(n) ==> count-{layer} += n, at-{layer} max= n\n    \
                 ||| (n > {i} ==> flag-{layer} = true);"
            )
            .unwrap();
        }
        writeln!(text, "}}").unwrap();
    }
    writeln!(text, "module P{p}.Connection ::= Layer{};", shape.layers - 1).unwrap();
}

/// Every control module calls the next one at its end.
fn control(text: &mut String, shape: Shape, p: usize, c: usize) {
    let next = c + 1;
    let (import, last) = match next < shape.controls {
        true => (
            format!(", Control{next}"),
            format!("let next = Control{next}(seg, con) in\n      next.run(n + 1)\n    end"),
        ),
        false => (String::new(), "send-hook(n), ack-hook(n)".to_string()),
    };
    writeln!(text, "module P{p}.Control{c} has Segment, Connection, Signals using all{import} {{").unwrap();
    writeln!(text, "  field seg :> *Segment using all;\n  field con :> *Connection using all;").unwrap();
    writeln!(text, "  constructor(s :> *Segment, k :> *Connection) ::= seg = s, con = k;").unwrap();
    for i in 0..10 {
        let (layer, part) = ((c + i) % shape.layers, (c * 3 + i) % 20);
        let body = match i % 4 {
            0 => format!("part-{part} > {c} ==> do-{layer}-{}(part-{part})", i % 5),
            1 => format!("is-{layer}-{}(part-{part} + n) ==> step-{}(n)\n    ||| drop", i % 5, i - 1),
            2 => format!("(step-{}(n) catch drop ==> time-hook(n)),\n    ack-hook(part-{part})", i - 1),
            _ => format!(
                "n < part-{part} ==> outline again\n    ||| (is-{layer}-{}(n) ==> step-{}(n))",
                i % 5,
                i - 1
            ),
        };
        writeln!(text, "  // Step {i}: looks at part {part} and layer {layer}.\n  step-{i}(n :> uint) :> void ::=\n    {body};").unwrap();
    }
    writeln!(text, "  run(n :> uint) :> void ::=\n    (step-9(n), step-6(n) catch all),\n    {last};")
        .unwrap();
    if c == 0 {
        writeln!(
            text,
            "  static start(s :> *Segment, n :> uint) :> void ::=\n    let con :> Connection in\n      let c = Control0(s, &con) in \
             c.run(n) end\n    end;"
        )
        .unwrap();
    }
    writeln!(text, "}}").unwrap();
    if c == 0 {
        writeln!(text, "export P{p}.Control0.start;").unwrap();
    }
}

const STAGES: [&str; 5] = ["parse", "check", "warnings", "optimize", "emit"];

/// What one compilation took, by stage.
fn compile(text: &str, options: &Options) -> [Duration; STAGES.len()] {
    let mut sources = Sources::new();
    let file = sources.add("made.pc", text);
    let mut clock = Clock { last: Instant::now() };
    let mut diagnostics = Diagnostics::new();
    let syntax = parse(&mut sources, file, &mut diagnostics);
    let parsing = clock.lap();
    let checked = check(&sources, &syntax, Target::default());
    let checking = clock.lap();
    assert!(!diagnostics.has_errors() && !checked.diagnostics.has_errors());
    let mut program = checked.program;
    assert!(warnings(&program, &Reach::new(&program)).is_empty());
    let warning = clock.lap();
    optimize(&mut program, options);
    let optimizing = clock.lap();
    let names = emit::Options { lines: true, source_name: "made.c".into(), header_name: "made.h".into() };
    emit::emit(&program, &sources, &names).expect("C");
    [parsing, checking, warning, optimizing, clock.lap()]
}

struct Clock {
    last: Instant,
}

impl Clock {
    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.last, now)
    }
}

/// The medians of several runs.
fn medians(text: &str, options: &Options) -> [Duration; STAGES.len()] {
    let runs: Vec<_> = (0..11).map(|_| compile(text, options)).collect();
    std::array::from_fn(|stage| {
        let mut times: Vec<Duration> = runs.iter().map(|run| run[stage]).collect();
        times.sort();
        times[times.len() / 2]
    })
}

fn measure(shape: Shape) -> Duration {
    let text = program(shape);
    let times = medians(&text, &Options::default());
    println!("{} lines, {} modules:", text.lines().count(), text.matches("module ").count());
    for (name, time) in STAGES.iter().zip(times) {
        println!("  {name:<10} {:>9.3} ms", time.as_secs_f64() * 1e3);
    }
    let total = times.iter().sum::<Duration>();
    println!("  {:<10} {:>9.3} ms", "all", total.as_secs_f64() * 1e3);
    total
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let scales: Vec<usize> = args.iter().filter_map(|arg| arg.parse().ok()).collect();
    let write = args.iter().any(|arg| arg == "--write");
    let shape = if args.iter().any(|arg| arg == "--deep") { Shape::deep } else { Shape::broad };
    if write {
        return scales.iter().for_each(|&scale| print!("{}", program(shape(scale))));
    }
    let scales = if scales.is_empty() { vec![1, 10] } else { scales };
    let run = move || compare(&scales, shape);
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(run);
    thread.expect("a thread").join().expect("no panic");
}

fn compare(scales: &[usize], shape: impl Fn(usize) -> Shape) {
    let times: Vec<(usize, Duration)> = scales.iter().map(|&scale| (scale, measure(shape(scale)))).collect();
    for pair in times.windows(2) {
        let ratio = pair[1].1.as_secs_f64() / pair[0].1.as_secs_f64();
        println!("{} times the size takes {ratio:.1} times as long", pair[1].0 / pair[0].0);
    }
}
