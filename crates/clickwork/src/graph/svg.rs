//! The drawing as SVG.
//!
//! Ports look as in the Click papers: inputs are triangles, outputs rectangles; black ones push, white ones pull. A double
//! outline marks a port that could do either and does what its neighbours want.

use super::layout::{Piece, Point};
use super::legend::{self, Legend};
use super::measure;
use super::model::{FONT, Mark, Model, PORT, Part, Port, SMALL};
use super::nest::{Area, Line, Picture};
use std::fmt::Write;

const STYLE: &str = "\
text{font-family:Helvetica,Arial,'DejaVu Sans',sans-serif;fill:#1a1a1a}\
.class{font-weight:bold}\
.small{fill:#555}\
.count{fill:#0b5cad;font-weight:bold}\
.title{font-weight:bold;fill:#4a5568}\
.box{stroke:#222;stroke-width:1.2}\
.outside{fill:#fff;stroke:#999;stroke-width:1.2;stroke-dasharray:2 2}\
.faint{opacity:.55}\
.halo{fill:none;stroke-width:4}\
.missing{stroke:#d1480f}\
.different{stroke:#1769c2}\
.compound{fill:#5a6b85;fill-opacity:.07;stroke:#7a8aa3;stroke-width:1.2;stroke-dasharray:6 3}\
.wire{fill:none;stroke:#333;stroke-width:1.4}\
.tip{fill:#333}\
.wire.missing{stroke:#d1480f;stroke-width:2.6}\
.tip.missing{fill:#d1480f;stroke:none}\
.gate{fill:#7a8aa3}\
.push{fill:#111;stroke:#111}\
.pull{fill:#fff;stroke:#111}\
.ring{fill:none;stroke:#111;stroke-width:.9}\
";

/// Draws the picture. With `links`, a prefix, an element's box is a link to that prefix and the element's name.
pub fn draw(model: &Model, picture: &Picture, title: &str, links: Option<&str>) -> String {
    let legend = Legend::new(model, picture.width);
    let width = picture.width.max(legend.width);
    let height = picture.height + legend.height;
    let shift = (width - picture.width) / 2;
    let mut out = String::new();
    let _ = writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">"#
    );
    let _ = writeln!(out, "<title>{}</title>\n<style>{STYLE}</style>", escape(title));
    let _ = writeln!(out, r##"<rect width="{width}" height="{height}" fill="#fff"/>"##);
    let _ = writeln!(out, r#"<g transform="translate({shift} 0)">"#);
    for (compound, area) in model.compounds.iter().zip(&picture.compounds) {
        compound_box(&mut out, &compound.title, area);
    }
    // Those with a mark are drawn over the others.
    for marked in [false, true] {
        picture.wires.iter().filter(|line| line.missing == marked).for_each(|line| wire(&mut out, line));
    }
    for gate in &picture.gates {
        let _ = writeln!(out, r#"<circle class="gate" cx="{}" cy="{}" r="3"/>"#, gate.x, gate.y);
    }
    for (compound, area) in model.compounds.iter().zip(&picture.compounds) {
        compound_title(&mut out, &compound.title, area, &picture.gates);
    }
    for (part, at) in model.parts.iter().zip(&picture.parts) {
        match links {
            Some(prefix) => {
                let _ = writeln!(out, r#"<a href="{prefix}{}">"#, escape(&part.full_name));
                element(&mut out, part, *at);
                out.push_str("</a>\n");
            }
            None => element(&mut out, part, *at),
        }
    }
    out.push_str("</g>\n");
    legend.draw(&mut out, picture.height, width);
    out.push_str("</svg>\n");
    out
}

fn compound_box(out: &mut String, title: &str, a: &Area) {
    let _ = writeln!(
        out,
        r#"<rect class="compound" x="{}" y="{}" width="{}" height="{}" rx="8"><title>{}</title></rect>"#,
        a.at.x,
        a.at.y,
        a.width,
        a.height,
        escape(title)
    );
}

/// The title, at the left of the upper edge, or at the right if a connection passes there.
fn compound_title(out: &mut String, title: &str, a: &Area, gates: &[Point]) {
    if title.is_empty() {
        return;
    }
    let width = measure::width(title, SMALL + 1, true) + 8;
    let (left, right, y) = (a.at.x + 8, a.at.x + a.width - width - 8, a.at.y - 9);
    let taken = |x: i64| gates.iter().any(|g| g.y == a.at.y && (x - 4..=x + width + 4).contains(&g.x));
    let x = if taken(left) && !taken(right) { right } else { left };
    let _ = writeln!(
        out,
        r##"<rect x="{x}" y="{y}" width="{width}" height="18" rx="4" fill="#fff" stroke="#7a8aa3"/>"##
    );
    let (x, y) = (x + width / 2, y + 13);
    let _ = writeln!(
        out,
        r#"<text class="title" x="{x}" y="{y}" font-size="{}" text-anchor="middle">{}</text>"#,
        SMALL + 1,
        escape(title)
    );
}

/// Length of an arrowhead.
const TIP: i64 = 8;

fn wire(out: &mut String, line: &Line) {
    let Line { route, arrow, missing } = line;
    let mark = if *missing { " missing" } else { "" };
    let mut d = format!("M{} {}", route.start.x, route.start.y);
    let end = route.pieces.last().map_or(route.start, |p| end_of(*p));
    for (n, piece) in route.pieces.iter().enumerate() {
        let last = *arrow && n + 1 == route.pieces.len();
        match piece {
            // The line ends inside the arrowhead.
            Piece::Line(p) => write!(d, "L{} {}", p.x, if last { p.y - TIP / 2 } else { p.y }),
            Piece::Curve(a, b, c) => write!(d, "C{} {} {} {} {} {}", a.x, a.y, b.x, b.y, c.x, c.y),
        }
        .expect("writing to a string");
    }
    let _ = writeln!(out, r#"<path class="wire{mark}" d="{d}"/>"#);
    if *arrow {
        let (x, y) = (end.x, end.y);
        let _ = writeln!(
            out,
            r#"<path class="tip{mark}" d="M{x} {y}l-{w} -{TIP}q{w} 2.5 {} 0z"/>"#,
            2 * (TIP / 2),
            w = TIP / 2
        );
    }
}

fn end_of(piece: Piece) -> Point {
    match piece {
        Piece::Line(p) | Piece::Curve(_, _, p) => p,
    }
}

fn element(out: &mut String, part: &Part, at: Point) {
    let config = if part.config.is_empty() { String::new() } else { format!("({})", part.config) };
    let _ = writeln!(
        out,
        "<g{}><title>{}</title>",
        if part.outside { r#" class="faint""# } else { "" },
        escape(&format!("{} :: {}{config}", part.full_name, part.class))
    );
    if let Some(mark) = part.mark.filter(|_| !part.outside) {
        halo(out, mark, at, part.width, part.height);
    }
    let _ = writeln!(
        out,
        r#"<rect {} x="{}" y="{}" width="{}" height="{}" rx="3"/>"#,
        match part.outside {
            true => r#"class="outside""#.to_string(),
            false => format!(r#"class="box" fill="{}""#, legend::tint(part.family).1),
        },
        at.x,
        at.y,
        part.width,
        part.height
    );
    for p in &part.inputs {
        input(out, p, Point { x: at.x + p.at, y: at.y });
    }
    for p in &part.outputs {
        output(out, p, Point { x: at.x + p.at, y: at.y + part.height });
    }
    texts(out, part, at);
    out.push_str("</g>\n");
}

/// The mark of a box: a broad line around it.
pub fn halo(out: &mut String, mark: Mark, at: Point, width: i64, height: i64) {
    let class = match mark {
        Mark::Missing => "missing",
        Mark::Different => "different",
    };
    let (x, y, width, height) = (at.x - 2, at.y - 2, width + 4, height + 4);
    let _ = writeln!(
        out,
        r#"<rect class="halo {class}" x="{x}" y="{y}" width="{width}" height="{height}" rx="5"/>"#
    );
}

fn texts(out: &mut String, part: &Part, at: Point) {
    let x = at.x + part.width / 2;
    let _ = writeln!(
        out,
        r#"<text x="{x}" y="{}" font-size="{FONT}" text-anchor="middle">{}<tspan class="class">{}</tspan></text>"#,
        at.y + part.heading_baseline(),
        escape(&part.prefix()),
        escape(&part.class)
    );
    for (y, text, is_count) in part.small_lines() {
        let class = if is_count { "count" } else { "small" };
        let _ = writeln!(
            out,
            r#"<text class="{class}" x="{x}" y="{}" font-size="{SMALL}" text-anchor="middle">{}</text>"#,
            at.y + y,
            escape(text)
        );
    }
}

fn class_of(p: &Port) -> &'static str {
    if p.push { "push" } else { "pull" }
}

/// A triangle that points into the box from the middle of its base, `at`.
pub fn input(out: &mut String, p: &Port, at: Point) {
    let (x, y, half) = (at.x, at.y, PORT / 2 + 1);
    let class = class_of(p);
    if p.agnostic {
        let _ = writeln!(
            out,
            r#"<path class="ring" d="M{} {y}h{}L{x} {}z"/>"#,
            x - half - 4,
            2 * half + 8,
            y + PORT + 5
        );
    }
    let _ = writeln!(out, r#"<path class="{class}" d="M{} {y}h{}L{x} {}z"/>"#, x - half, 2 * half, y + PORT);
}

/// A rectangle that stands in the box on the middle of its base, `at`.
pub fn output(out: &mut String, p: &Port, at: Point) {
    let (x, y, half) = (at.x, at.y, PORT / 2);
    let class = class_of(p);
    if p.agnostic {
        let _ = writeln!(
            out,
            r#"<rect class="ring" x="{}" y="{}" width="{}" height="{}"/>"#,
            x - half - 3,
            y - PORT - 2,
            2 * half + 6,
            PORT + 2
        );
    }
    let _ = writeln!(
        out,
        r#"<rect class="{class}" x="{}" y="{}" width="{}" height="{}"/>"#,
        x - half,
        y - PORT + 1,
        2 * half,
        PORT - 1
    );
}

/// Text as it stands in XML. Control characters, which XML has no place for, are replaced.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' | '\r' => out.push(' '),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
