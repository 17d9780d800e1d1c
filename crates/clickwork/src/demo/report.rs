//! What the demonstration prints: a table of what a router must do and what this one did, for a terminal of 80 columns.

use super::expect::{Expectation, GROUPS};
use super::fate::in_words;
use super::offline::{CONFIG_NAME, Findings, HOST, INPUTS, OUTPUTS, Treatment};
use std::fmt::Write;
use std::path::Path;

/// The verdict on one class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mark {
    /// As RFC 1812 wants it.
    Right,
    /// As expected of this router, which does less than RFC 1812 wants.
    Less,
    /// Otherwise than expected.
    Wrong,
}

/// Whether, and how, the report uses colours.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether there are colours.
    pub color: bool,
}

impl Style {
    fn paint(self, code: &str, text: &str) -> String {
        if self.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }

    fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    fn mark(self, mark: Mark) -> String {
        match mark {
            Mark::Right => self.paint("32", "✓"),
            Mark::Less => self.paint("33", "~"),
            Mark::Wrong => self.paint("1;31", "✗"),
        }
    }
}

fn mark(e: &Expectation, t: &Treatment) -> Mark {
    if t.fates != e.fates(t.sent) || !t.faults.is_empty() {
        Mark::Wrong
    } else if e.remark.is_some() {
        Mark::Less
    } else {
        Mark::Right
    }
}

/// The expectations with what was found.
fn rows(findings: &Findings) -> impl Iterator<Item = (&'static Expectation, &Treatment)> {
    GROUPS.iter().flat_map(|g| g.classes).zip(&findings.treatments)
}

/// Whether everything is as expected.
pub fn is_right(findings: &Findings) -> bool {
    let expected = GROUPS.iter().map(|g| g.classes.len()).sum::<usize>();
    findings.treatments.len() == expected
        && findings.strays == 0
        && rows(findings).all(|(e, t)| mark(e, t) != Mark::Wrong)
}

/// The whole report.
pub fn text(findings: &Findings, style: Style) -> String {
    let mut out = String::new();
    opening(&mut out, findings, style);
    table(&mut out, findings, style);
    drops(&mut out, findings, style);
    remarks(&mut out, findings, style);
    verdict(&mut out, findings, style);
    out
}

fn opening(out: &mut String, findings: &Findings, style: Style) {
    let received: u64 = findings.treatments.iter().map(|t| t.sent).sum();
    let _ = writeln!(out, "{}\n", style.bold("Clickwork: an IP router between two networks"));
    let _ = writeln!(
        out,
        "Its {} elements do what Figure 8 of \"The Click modular router\" shows. They got\n\
         {received} packets of {} kinds and sent {}, from which the last column was found.\n",
        findings.elements,
        findings.treatments.len(),
        findings.sent,
    );
}

fn table(out: &mut String, findings: &Findings, style: Style) {
    let heads = format!(
        "    {:<16}{:>4}  {:<24} {:<9} {}",
        "packets", "sent", "a router must", "RFC 1812", "this one"
    );
    let _ = writeln!(out, "{}", style.dim(&heads));
    let mut treatments = findings.treatments.iter();
    for group in GROUPS {
        let _ = writeln!(out, "  {}", style.bold(group.heading));
        for (e, t) in group.classes.iter().zip(&mut treatments) {
            row(out, e, t, style);
        }
    }
}

fn row(out: &mut String, e: &Expectation, t: &Treatment, style: Style) {
    let mark = mark(e, t);
    let (sign, section) = (style.mark(mark), style.dim(&format!("{:<9}", e.section)));
    let _ = write!(out, "  {sign} {:<16}{:>4}  {:<24} {section}", e.class, t.sent, e.must);
    let did = in_words(&t.fates);
    let did = did.replace(", ", &format!(",\n{:61}", ""));
    let _ = writeln!(out, " {}", if mark == Mark::Wrong { style.paint("31", &did) } else { did });
    if mark == Mark::Wrong {
        let _ = writeln!(out, "      expected: {}", in_words(&e.fates(t.sent)));
        for fault in &t.faults {
            let _ = writeln!(out, "      fault: {fault}");
        }
    }
}

/// Which element dropped packets, and why.
fn drops(out: &mut String, findings: &Findings, style: Style) {
    let _ = writeln!(out, "\n  {}", style.bold("Where packets were dropped, and why"));
    for (e, t) in rows(findings) {
        for (element, reason, n) in &t.drops {
            let _ = writeln!(out, "    {:<16}{n:>4}  {reason:<24} {}", e.class, style.dim(element));
        }
    }
}

fn remarks(out: &mut String, findings: &Findings, style: Style) {
    for (e, _) in rows(findings) {
        if let Some(remark) = e.remark {
            let _ = writeln!(out, "\n  {} {}", style.mark(Mark::Less), style.bold(e.class));
            wrap(out, remark, "    ");
        }
    }
}

/// Breaks lines at 80 columns.
fn wrap(out: &mut String, text: &str, indent: &str) {
    let mut line = indent.to_string();
    for word in text.split_whitespace() {
        if line.len() + word.len() > 78 {
            let _ = writeln!(out, "{}", line.trim_end());
            line = indent.to_string();
        }
        line.push_str(word);
        line.push(' ');
    }
    let _ = writeln!(out, "{}", line.trim_end());
}

fn verdict(out: &mut String, findings: &Findings, style: Style) {
    let count = |wanted| rows(findings).filter(|(e, t)| mark(e, t) == wanted).count();
    let (right, less, wrong) = (count(Mark::Right), count(Mark::Less), count(Mark::Wrong));
    let _ = writeln!(out);
    if is_right(findings) {
        let verdict = format!(
            "{right} kinds of packets were treated as they must be, {less} with the differences noted."
        );
        let _ = writeln!(out, "{}", style.paint("1;32", &verdict));
        return;
    }
    let verdict = format!("{wrong} kinds of packets were not treated as expected, {} were.", right + less);
    let _ = writeln!(out, "{}", style.paint("1;31", &verdict));
    if !findings.messages.is_empty() {
        let _ = write!(out, "The router said:\n{}", findings.messages);
    }
    if findings.strays > 0 {
        let _ =
            writeln!(out, "{} of {} sent packets stem from none received.", findings.strays, findings.sent);
    }
}

/// What was written where, and what to do next. `program` is how this program was called.
pub fn closing(directory: &Path, picture: &str, program: &str, style: Style) -> String {
    let at = |name: &str| directory.join(name).display().to_string();
    let mut out = format!("\n{}\n", style.bold(&format!("In {}:", directory.display())));
    let files = [
        (INPUTS.join(", "), "what the two networks sent to the router"),
        (OUTPUTS.join(", "), "what it sent to them (tcpdump -r, Wireshark)"),
        (HOST.to_string(), "what it handed to its own host"),
        (CONFIG_NAME.to_string(), "its configuration, to read and to change"),
        (picture.to_string(), "its picture, for a browser"),
    ];
    for (name, what) in files {
        let _ = writeln!(out, "  {name:<22}  {what}");
    }
    let _ = writeln!(out, "\n{}", style.bold("Try next:"));
    let (config, inputs) = (at(CONFIG_NAME), format!("IN0={} IN1={}", at(INPUTS[0]), at(INPUTS[1])));
    let commands = [
        (format!("{program} run {config} \\\n      {inputs}"), "run the router yourself"),
        (format!("{program} doc DecIPTTL"), "read what one of its elements does"),
        (format!("sudo {program} demo --live"), "route between hosts that the kernel plays"),
    ];
    for (command, what) in commands {
        let _ = writeln!(out, "  {}\n    {command}", style.dim(&format!("# {what}")));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::fate::{Fate, Fates};
    use super::*;

    /// Everything as expected.
    fn flawless() -> Findings {
        let classes = GROUPS.iter().flat_map(|g| g.classes);
        let treated = |e: &Expectation| Treatment { sent: 2, fates: e.fates(2), ..Treatment::default() };
        Findings {
            treatments: classes.map(treated).collect(),
            sent: 60,
            strays: 0,
            elements: 70,
            messages: "disk full\n".into(),
        }
    }

    fn plain(findings: &Findings) -> String {
        text(findings, Style { color: false })
    }

    #[test]
    fn the_report_has_a_row_for_each_class_and_fits_on_a_terminal() {
        let report = plain(&flawless());
        for (e, _) in rows(&flawless()) {
            assert!(report.contains(&format!(" {:<16} ", e.class)), "{}", e.class);
        }
        for line in report.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert!(is_right(&flawless()) && !report.contains('✗') && !report.contains("disk full"));
        assert!(!report.contains('\x1b') && text(&flawless(), Style { color: true }).contains("\x1b[32m✓"));
    }

    #[test]
    fn what_differs_is_marked_and_spoils_the_verdict() {
        let mut findings = flawless();
        findings.treatments[3].fates = Fates::from([(Fate::Dropped, 2)]);
        assert!(!is_right(&findings));
        let report = plain(&findings);
        assert!(report.contains("✗ udp") && report.contains("expected: 2 forwarded"), "{report}");
        assert!(report.contains("1 kinds of packets were not treated as expected"));
        assert!(report.contains("The router said:\ndisk full\n"));

        let mut findings = flawless();
        findings.treatments[4].faults.push("contents changed");
        assert!(!is_right(&findings) && plain(&findings).contains("fault: contents changed"));

        let strays = Findings { strays: 1, ..flawless() };
        assert!(!is_right(&strays) && plain(&strays).contains("1 of 60 sent packets stem from none"));
        let mut short = flawless();
        short.treatments.pop();
        assert!(!is_right(&short));
    }

    #[test]
    fn the_closing_names_files_and_commands() {
        let text = closing(Path::new("d"), "router.svg", "clickwork", Style { color: false });
        assert!(text.contains("clickwork run d/ip-router.click") && text.contains("IN0=d/in0.pcap"));
        assert!(text.contains("router.svg") && text.lines().all(|line| line.len() <= 80), "{text}");
    }
}
