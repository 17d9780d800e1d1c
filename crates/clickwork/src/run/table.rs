//! The table at the end of a run: what each element saw and dropped.

use crate::graph::grouped;
use clickwork_router::Router;
use clickwork_router::router::Info;

/// The longest name or class that widens its column.
const WIDEST: usize = 40;

/// The table; elements that carry no packets are left out.
pub fn table(router: &Router) -> String {
    let infos = router.ids().map(|id| router.info(id));
    let rows: Vec<[String; 4]> = infos.filter(|i| carries_packets(i)).map(row).collect();
    let title = ["ELEMENT", "CLASS", "PACKETS", "DROPS"].map(str::to_string);
    let width = |column: usize| {
        let cells = rows.iter().chain([&title]).map(|r| r[column].chars().count());
        cells.max().unwrap_or(0).min(WIDEST)
    };
    let (name, class, packets) = (width(0), width(1), width(2));
    let line = |[a, b, c, d]: &[String; 4]| {
        format!("{a:name$}  {b:class$}  {c:>packets$}  {d}").trim_end().to_string() + "\n"
    };
    std::iter::once(&title).chain(&rows).map(line).collect()
}

fn carries_packets(info: &Info) -> bool {
    !(info.inputs.is_empty() && info.outputs.is_empty())
}

fn row(info: &Info) -> [String; 4] {
    let drops: Vec<String> =
        info.drops.iter().map(|(reason, n)| format!("{} {reason}", grouped(*n))).collect();
    [info.name.clone(), info.class_name.clone(), grouped(info.packets), drops.join(", ")]
}
