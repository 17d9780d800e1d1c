//! The queues that an active queue manager watches.

use clickwork_router::args::{Args, words};
use clickwork_router::{Cx, Storage};
use std::sync::Arc;

/// Queues, found by flow-based router context (SOSP '99 §3.3) or by name.
#[derive(Default)]
pub(super) struct Queues {
    /// The names given, if any.
    named: Vec<String>,
    found: Vec<(String, Arc<Storage>)>,
}

impl Queues {
    /// Reads the argument QUEUES. The elements that it names must be there.
    pub fn read(&mut self, args: &mut Args, cx: &Cx<'_>) {
        self.named =
            args.raw("QUEUES").map_or_else(Vec::new, |t| words(t).into_iter().map(|w| w.text).collect());
        let missing = self.named.iter().filter(|name| cx.find(name).is_none());
        missing.for_each(|name| args.error(format!("no element named '{name}'")));
    }

    /// Finds the queues: those named, or else the nearest downstream of output 0 or upstream of input 0.
    pub fn find(&mut self, is_downstream: bool, cx: &Cx<'_>) -> Result<(), String> {
        self.found = if !self.named.is_empty() {
            self.named.iter().map(|name| named_queue(name, cx)).collect::<Result<_, _>>()?
        } else {
            let nearest = if is_downstream {
                cx.downstream::<Storage>(Some(0))
            } else {
                cx.upstream::<Storage>(Some(0))
            };
            nearest.into_iter().map(|(id, q)| (cx.router().info(id).name.clone(), q)).collect()
        };
        if self.found.is_empty() { Err("no nearby Queues".to_string()) } else { Ok(()) }
    }

    /// Packets in all of them.
    pub fn length(&self) -> i64 {
        self.found.iter().map(|(_, q)| q.length() as i64).sum()
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.found.iter().map(|(name, _)| name.as_str())
    }

    /// Their names, each on a line.
    pub fn list(&self) -> String {
        self.names().map(|name| format!("{name}\n")).collect()
    }
}

fn named_queue(name: &str, cx: &Cx<'_>) -> Result<(String, Arc<Storage>), String> {
    let id = cx.find(name).ok_or_else(|| format!("no element named '{name}'"))?;
    let queue = cx.exported::<Storage>(id).ok_or_else(|| format!("'{name}' is not a Storage element"))?;
    Ok((cx.router().info(id).name.clone(), queue))
}
