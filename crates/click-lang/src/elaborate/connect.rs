//! Arrows between lists of elements and ports: which port goes to which.
//!
//! `a, b -> c` connects both to one port. `a [0,1] => b, c` connects one to one; in that, a list that ends in a comma,
//! `[2,]`, and, with `=>`, a lone element without a port list, have as many ports as the other side needs.

use clickwork_source::Diagnostic;

use super::Declarer;
use crate::graph::Port;
use crate::syntax::ast::Arrow;

/// An element in a list, with the ports written before and after it.
pub(super) struct End {
    pub element: usize,
    pub ports: [PortList; 2],
}

/// `[0, 2-3]`, or nothing written.
#[derive(Default)]
pub(super) struct PortList {
    pub ports: Vec<usize>,
    /// More ports follow the last if needed.
    pub open: bool,
}

impl PortList {
    /// Ports 0 to `count - 1`.
    pub fn up_to(count: usize) -> Self {
        PortList { ports: (0..count).collect(), open: false }
    }

    pub fn is_empty(&self) -> bool {
        self.ports.is_empty()
    }
}

/// One side of an arrow.
struct Half<'a> {
    ends: &'a [End],
    /// Which of an end's port lists counts: 0 for the inputs right of the arrow, 1 for the outputs left of it.
    side: usize,
    /// Ports that must be connected.
    count: usize,
    /// Lists that can take more ports.
    open_lists: usize,
    /// The whole half takes as many ports as needed.
    open: bool,
    /// Goes from port to port; otherwise stays at its only port.
    steps: bool,
    /// Ports still to be added to an open list.
    extra: usize,
    /// The place reached: the end, and the port in its list.
    at: usize,
    position: usize,
}

impl<'a> Half<'a> {
    fn new(ends: &'a [End], side: usize) -> Self {
        let lists = || ends.iter().map(|end| &end.ports[side]);
        Half {
            ends,
            side,
            count: lists().map(|list| list.ports.len().max(1)).sum(),
            open_lists: lists().filter(|list| list.open).count(),
            open: lists().any(|list| list.open),
            steps: false,
            extra: 0,
            at: 0,
            position: 0,
        }
    }

    /// A lone element without ports, next to several: for `=>` it has as many as they.
    fn is_lone(&self, other: &Half<'_>) -> bool {
        self.count == 1 && other.count > 1 && self.ends[0].ports[self.side].is_empty()
    }

    fn port(&self) -> Option<Port> {
        let end = self.ends.get(self.at)?;
        let list = &end.ports[self.side];
        let last = list.ports.last().copied().unwrap_or(0);
        let beyond = (self.position + 1).saturating_sub(list.ports.len().max(1));
        let port = list.ports.get(self.position).copied().unwrap_or(last + beyond);
        Some(Port { element: end.element, port })
    }

    fn step(&mut self) {
        if !self.steps {
            return;
        }
        let list = &self.ends[self.at].ports[self.side];
        self.position += 1;
        if self.position < list.ports.len() {
            return;
        }
        let lone = list.is_empty() && self.count == 1;
        if (list.open || lone) && self.extra > 0 {
            self.extra -= 1;
        } else {
            self.position = 0;
            self.at += 1;
        }
    }
}

impl Declarer<'_> {
    pub(super) fn connect_lists(&mut self, outputs: &[End], inputs: &[End], arrow: Arrow) {
        let (mut from, mut to) = (Half::new(outputs, 1), Half::new(inputs, 0));
        if from.ends.is_empty() || to.ends.is_empty() {
            return;
        }
        if from.open_lists + to.open_lists > 1 {
            self.error(Diagnostic::error(arrow.span, "at most one expandable port allowed per connection"));
            let loser = if to.count < from.count { &mut from } else { &mut to };
            loser.open = false;
        }
        if arrow.double {
            let lone = (from.is_lone(&to), to.is_lone(&from));
            from.open |= lone.0;
            to.open |= lone.1;
        }
        from.steps = from.count > 1 || from.open;
        to.steps = to.count > 1 || to.open;
        from.extra = if from.open { to.count.saturating_sub(from.count) } else { 0 };
        to.extra = if to.open { from.count.saturating_sub(to.count) } else { 0 };
        if from.steps && to.steps {
            self.check_many_to_many(&from, &to, arrow);
        } else if !from.steps && !to.steps {
            to.steps = true;
        }
        while let (Some(source), Some(target)) = (from.port(), to.port()) {
            if !self.wire(source, target, arrow.span) {
                return;
            }
            from.step();
            to.step();
        }
    }

    fn check_many_to_many(&mut self, from: &Half<'_>, to: &Half<'_>, arrow: Arrow) {
        let error = |text: String| Diagnostic::error(arrow.span, text);
        if !arrow.double {
            self.error(error("syntax error: many-to-many connections require '=>'".into()));
        }
        let (outputs, inputs) = (from.count, to.count);
        let mismatch = match (from.open, to.open) {
            (false, false) if outputs != inputs => format!("{outputs} outputs connected to {inputs} inputs"),
            (true, false) if inputs < outputs => {
                format!("{outputs} or more outputs connected to {inputs} inputs")
            }
            (false, true) if outputs < inputs => {
                format!("{outputs} outputs connected to {inputs} or more inputs")
            }
            _ => return,
        };
        self.error(error(format!("connection mismatch: {mismatch}")));
    }
}
