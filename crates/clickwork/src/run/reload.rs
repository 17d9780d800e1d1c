//! Replacing the configuration of a running router, for `-R`.
//!
//! The new router is made while the old one waits in its `hotconfig` handler, so whoever wrote the handler learns what
//! is wrong; the old one is replaced when no element runs.

use crate::config::{Input, Maker};
use crate::report::Report;
use clickwork_router::{Reload, Router};

/// How a router made by `maker` is replaced.
pub fn reload(maker: &Maker, report: Report) -> Reload {
    // The old router's control sockets are still bound. The new ones wait, and take theirs over.
    let sockets = maker.sockets.iter().map(|s| format!("{s}, RETRIES 1, RETRY_WARNINGS false")).collect();
    let maker = Maker { sockets, ..maker.clone() };
    Reload::new(move |running, text| {
        let made = maker.make(&Input::expression(text)?, running.clock().continued(), None);
        if !report.click {
            report.print(&made.sources, &made.diagnostics);
        }
        made.router.ok_or_else(|| {
            if !report.click {
                report.warning("the new configuration was refused; the old one goes on");
            }
            let plain = Report { warnings: report.warnings, ..Report::click() };
            plain.text(&made.sources, &made.diagnostics).trim_end().to_string()
        })
    })
}

/// Puts the router that waits to replace `router` in its place.
pub fn swap(router: &mut Router, report: &Report) {
    let Some(new) = router.take_hot_swap() else { return };
    let old = std::mem::replace(router, new);
    let kept = router.take_over(old).len();
    if !report.click {
        report.note(&format!(
            "new configuration: {} elements, {kept} of which go on as they were",
            router.len()
        ));
    }
}
