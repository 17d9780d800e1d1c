//! Every socket call in every state of a socket: what it gives, and its `errno`.
//!
//! `table.txt` has a row for each state and a column entry for each call. Our sockets have to fit it, and so has the kernel
//! that runs the test, which is where the table comes from (`UPDATE_TABLE=1 cargo test --test socket_calls` writes it
//! anew from the kernel). Both go through the same steps, which [`states`] lists. `options.txt` is the same for options.

mod api;
mod kernel;
mod options;
mod ours;
mod states;

use std::fmt::Write as _;
use std::path::PathBuf;

use api::Api;
use clickwork_prolac_tcp::sockets::linux;

type Row = (String, String, String);

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/socket_calls").join(name)
}

/// The table as an implementation of sockets makes it: `state: call=outcome ...`.
fn table<A: Api>(make: impl Fn() -> A) -> Vec<Row> {
    rows(make, |_, _| true)
}

/// The wanted rows of it.
fn rows<A: Api>(make: impl Fn() -> A, wanted: impl Fn(&str, &str) -> bool) -> Vec<Row> {
    let mut rows = Vec::new();
    for (state, prepare) in states::STATES {
        for (call, perform) in states::CALLS.iter().filter(|(call, _)| wanted(state, call)) {
            let mut api = make();
            let fd = prepare(&mut api);
            rows.push(((*state).to_owned(), (*call).to_owned(), perform(&mut api, fd)));
        }
    }
    rows
}

/// The same of options.
fn option_table<A: Api>(make: impl Fn() -> A) -> Vec<Row> {
    let mut rows = Vec::new();
    for (family, domain) in [("IPv4", linux::AF_INET), ("IPv6", linux::AF_INET6)] {
        for (name, level, option) in options::OPTIONS {
            let text = options::describe(&mut make(), domain, *level, *option);
            rows.push((family.to_owned(), (*name).to_owned(), text));
        }
    }
    for (name, perform) in options::OTHERS {
        rows.push(("others".to_owned(), (*name).to_owned(), perform(&mut make())));
    }
    rows
}

fn written(rows: &[Row]) -> String {
    let mut text = String::new();
    let mut state = "";
    for (row, call, outcome) in rows {
        if row != state {
            writeln!(text, "\n{row}").unwrap();
            state = row;
        }
        writeln!(text, "    {call:<44} {outcome}").unwrap();
    }
    text
}

fn expected(name: &str) -> Vec<Row> {
    let text = std::fs::read_to_string(path(name)).expect("the table");
    let mut state = String::new();
    let mut rows = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        match line.strip_prefix("    ") {
            None => state = line.to_owned(),
            Some(entry) => {
                let (call, outcome) = entry.split_at(44.min(entry.len()));
                rows.push((state.clone(), call.trim().to_owned(), outcome.trim().to_owned()));
            }
        }
    }
    rows
}

fn differences(name: &str, got: &[Row]) -> String {
    different(name, got).iter().map(|(wished, got)| said(wished, &got.2)).collect()
}

fn said((state, call, wished): &Row, got: &str) -> String {
    format!("{state}, {call}: {wished} in the table, but {got}\n")
}

/// The rows of a table that are not as they should be: what is expected, and what there is.
fn different(name: &str, got: &[Row]) -> Vec<(Row, Row)> {
    let expected = expected(name);
    assert_eq!(expected.len(), got.len(), "the table has another number of entries");
    for (wished, got) in expected.iter().zip(got) {
        assert_eq!((&wished.0, &wished.1), (&got.0, &got.1), "the table is in another order");
    }
    expected.into_iter().zip(got.iter().cloned()).filter(|(wished, got)| wished.2 != got.2).collect()
}

/// How often the kernel is asked again, each time with twice the time for its loopback.
const TURNS: u32 = 12;

/// What the kernel does otherwise than a table says. A busy machine needs more time, and others on it take ports: a difference counts
/// if it stays.
fn kernels_differences(name: &str, all: &[Row], again: impl Fn(&Row, u32) -> Vec<Row>) -> String {
    let stays = |wished: &Row| (0..TURNS).all(|turn| again(wished, turn).iter().all(|got| got.2 != wished.2));
    let found = different(name, all).into_iter().filter(|(wished, _)| stays(wished));
    found.map(|(wished, got)| said(&wished, &got.2)).collect()
}

fn our_sockets_do_what_the_table_says() {
    let text = differences("table.txt", &table(ours::Ours::new));
    assert!(text.is_empty(), "\n{text}");
}

fn our_options_do_what_the_table_says() {
    let text = differences("options.txt", &option_table(ours::Ours::new));
    assert!(text.is_empty(), "\n{text}");
}

fn the_kernel_does_what_the_tables_say() {
    // Some options are root's alone.
    clickwork_oracles::root();
    if let Err(reason) = kernel::available() {
        clickwork_oracles::lacking(&reason);
    }
    if std::env::var_os("UPDATE_TABLE").is_some() {
        let head = "# State of a socket, call, and what Linux gives. Read main.rs for how this came about.\n";
        std::fs::write(path("table.txt"), head.to_owned() + &written(&table(kernel::Kernel::new))).unwrap();
        let head = "# Option: what it holds, value:what it holds then or why not. Read options.rs.\n";
        let text = written(&option_table(kernel::Kernel::new));
        std::fs::write(path("options.txt"), head.to_owned() + &text).unwrap();
    }
    let text = kernels_differences("table.txt", &table(kernel::Kernel::new), |row, turn| {
        rows(|| kernel::Kernel::patient(turn), |state, call| state == row.0 && call == row.1)
    });
    assert!(text.is_empty(), "\n{text}");
    let text = kernels_differences("options.txt", &option_table(kernel::Kernel::new), |row, turn| {
        let mut rows = option_table(|| kernel::Kernel::patient(turn));
        rows.retain(|got| got.0 == row.0 && got.1 == row.1);
        rows
    });
    assert!(text.is_empty(), "\n{text}");
}

clickwork_oracles::tests! {
    our_sockets_do_what_the_table_says,
    our_options_do_what_the_table_says,
    the_kernel_does_what_the_tables_say,
}
