//! The legend: what ports and colours mean. It lists only what the drawing has.

use super::layout::Point;
use super::measure;
use super::model::{Mark, Model, Port, SMALL};
use super::svg::{escape, halo, input, output};
use std::fmt::Write;

/// What a family of element classes is for, and the colour of its boxes.
pub fn tint(family: &str) -> (&'static str, &'static str) {
    match family {
        "device" | "source" | "capture" => ("devices, files and sources", "#dff0dc"),
        "queue" | "sched" | "shaping" | "aqm" => ("queues and schedulers", "#fdf0c9"),
        "classify" | "ip" | "tcpudp" | "rewrite" => ("IP and classification", "#dbe9fa"),
        "ethernet" => ("link level", "#e7e2f6"),
        "icmp" => ("ICMP", "#fbdfdf"),
        "control" | "info" | "print" => ("control and information", "#ececec"),
        _ => ("other elements", "#ffffff"),
    }
}

/// Height of a row.
const ROW: i64 = 22;
const GAP: i64 = 22;
const MARGIN: i64 = 20;
/// A legend is at least so wide if it has so much to say.
const NARROWEST: i64 = 440;

enum Symbol {
    Input(Port),
    Output(Port),
    Box(&'static str),
    Mark(Mark),
    MissingWire,
    Outside,
    Count,
}

type Item = (Symbol, String);

/// The legend of a drawing.
pub struct Legend {
    rows: Vec<Vec<Item>>,
    /// Size.
    pub width: i64,
    /// Size, including the distance to the drawing.
    pub height: i64,
}

impl Legend {
    /// For what is in the model, about as wide as the drawing.
    pub fn new(model: &Model, width: i64) -> Legend {
        let room = (width - 2 * MARGIN).max(NARROWEST);
        let kinds = [ports(model), colours(model), marks(model)];
        let rows: Vec<_> = kinds.into_iter().flat_map(|items| in_rows(items, room)).collect();
        let width = rows.iter().map(|r| row_width(r)).max().unwrap_or(0) + 2 * MARGIN;
        let height = if rows.is_empty() { 0 } else { rows.len() as i64 * ROW + MARGIN };
        Legend { rows, width, height }
    }

    /// Draws it in the middle of `width`, from `top` on.
    pub fn draw(&self, out: &mut String, top: i64, width: i64) {
        if self.rows.is_empty() {
            return;
        }
        let _ = writeln!(out, r##"<path d="M{MARGIN} {top}H{}" stroke="#ccc"/>"##, width - MARGIN);
        for (n, row) in self.rows.iter().enumerate() {
            let mut x = (width - row_width(row)) / 2;
            let y = top + MARGIN / 2 + n as i64 * ROW + ROW / 2;
            for (symbol, text) in row {
                draw_symbol(out, symbol, Point { x, y });
                let _ = writeln!(
                    out,
                    r#"<text class="small" x="{}" y="{}" font-size="{SMALL}">{}</text>"#,
                    x + 24,
                    y + 4,
                    escape(text)
                );
                x += item_width(text);
            }
        }
    }
}

/// Items in rows of equal length that are no wider than `room`, if they can be.
fn in_rows(items: Vec<Item>, room: i64) -> Vec<Vec<Item>> {
    let lengths = (1..=items.len()).map(|rows| items.len().div_ceil(rows));
    let fits = |&length: &usize| items.chunks(length).all(|row| row_width(row) <= room);
    let length = lengths.into_iter().find(fits).unwrap_or(1);
    let mut rows: Vec<Vec<Item>> = Vec::new();
    for item in items {
        match rows.last_mut().filter(|row| row.len() < length) {
            Some(row) => row.push(item),
            None => rows.push(vec![item]),
        }
    }
    rows
}

fn item_width(text: &str) -> i64 {
    24 + measure::width(text, SMALL, false) + GAP
}

fn row_width(row: &[Item]) -> i64 {
    row.iter().map(|(_, text)| item_width(text)).sum::<i64>() - GAP
}

fn draw_symbol(out: &mut String, symbol: &Symbol, at: Point) {
    match symbol {
        Symbol::Input(p) => input(out, p, Point { x: at.x + 10, y: at.y - 5 }),
        Symbol::Output(p) => output(out, p, Point { x: at.x + 10, y: at.y + 5 }),
        Symbol::Count => {
            let _ = writeln!(
                out,
                r#"<text class="count" x="{}" y="{}" font-size="{SMALL}">123</text>"#,
                at.x - 2,
                at.y + 4
            );
        }
        Symbol::Mark(mark) => halo(out, *mark, Point { x: at.x + 3, y: at.y - 5 }, 14, 9),
        Symbol::MissingWire => {
            let _ = writeln!(out, r#"<path class="wire missing" d="M{} {}h18"/>"#, at.x, at.y);
        }
        Symbol::Outside => {
            let _ = writeln!(
                out,
                r#"<rect class="outside faint" x="{}" y="{}" width="16" height="11" rx="2"/>"#,
                at.x + 2,
                at.y - 6
            );
        }
        Symbol::Box(fill) => {
            let _ = writeln!(
                out,
                r#"<rect class="box" x="{}" y="{}" width="16" height="11" rx="2" fill="{fill}"/>"#,
                at.x + 2,
                at.y - 6
            );
        }
    }
}

fn ports(model: &Model) -> Vec<Item> {
    let any = |f: &dyn Fn(&Port) -> bool, outputs: bool| {
        model.parts.iter().flat_map(|p| if outputs { &p.outputs } else { &p.inputs }).any(f)
    };
    let port = |push, agnostic| Port { push, agnostic, at: 0 };
    let mut items: Vec<(Symbol, &str)> = Vec::new();
    for (push, text_in, text_out) in
        [(true, "push input", "push output"), (false, "pull input", "pull output")]
    {
        if any(&|p| p.push == push, false) {
            items.push((Symbol::Input(port(push, false)), text_in));
        }
        if any(&|p| p.push == push, true) {
            items.push((Symbol::Output(port(push, false)), text_out));
        }
    }
    if any(&|p| p.agnostic, false) || any(&|p| p.agnostic, true) {
        items.push((Symbol::Input(port(true, true)), "agnostic port, here push"));
        if any(&|p| p.agnostic && !p.push, false) || any(&|p| p.agnostic && !p.push, true) {
            items.push((Symbol::Input(port(false, true)), "here pull"));
        }
    }
    if model.parts.iter().any(|p| p.counts.is_some()) {
        items.push((Symbol::Count, "packets so far"));
    }
    if model.parts.iter().any(|p| p.outside) {
        items.push((Symbol::Outside, "outside the drawing"));
    }
    items.into_iter().map(|(symbol, text)| (symbol, text.to_string())).collect()
}

fn marks(model: &Model) -> Vec<Item> {
    let Some(other) = &model.other else { return Vec::new() };
    let any = |mark| model.parts.iter().any(|p| p.mark == Some(mark) && !p.outside);
    let mut items = Vec::new();
    if any(Mark::Missing) {
        items.push((Symbol::Mark(Mark::Missing), format!("not in {other}")));
    }
    if any(Mark::Different) {
        items.push((Symbol::Mark(Mark::Different), format!("otherwise in {other}")));
    }
    if model.wires.iter().any(|w| w.missing) {
        items.push((Symbol::MissingWire, format!("connection not in {other}")));
    }
    items
}

fn colours(model: &Model) -> Vec<Item> {
    let drawn = model.parts.iter().filter(|p| !p.outside);
    let mut items: Vec<(&str, &str)> = drawn.map(|p| tint(p.family)).collect();
    items.sort_unstable();
    items.dedup();
    if items.len() < 2 {
        return Vec::new();
    }
    items.into_iter().map(|(text, fill)| (Symbol::Box(fill), text.to_string())).collect()
}
