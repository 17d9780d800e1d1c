//! Path segments: trees of elements with fast paths ([`crate::fast`]) that packets run through in one function, as
//! compiled code does, instead of element by element.
//!
//! A segment changes how packets move, and nothing that anybody can see. Its function takes each packet as far as fast paths
//! lead and gives it an *exit*: by which output it left the segment, or at which element the fast path said nothing, so
//! that the element itself must be asked. If all packets of a batch have one exit, the batch goes on from there in
//! place ([`push`]); otherwise the tree is walked as the router would have walked the elements, so that everything
//! happens in the same order ([`visit`]). Pull paths are chains ([`pull`]).
//!
//! Not here: which elements make a segment and what its code is (the crate `clickwork-compile`).

mod pull;
mod push;
mod table;
mod visit;

pub(crate) use push::Through;
pub(crate) use table::Segments;
pub(crate) use visit::Visit;

use crate::fast::FastCode;
use crate::router::{ElementId, Router};
use clickwork_packet::Packet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// How a packet came out of a segment's function.
pub type Exit = u16;

/// The function of a segment: it notes an exit for each packet, and says whether they differ.
pub type Function = dyn Fn(&mut [Packet], &mut [Exit]) -> bool + Send + Sync;

/// Finds the segments for a router as it is.
pub type Planner = dyn Fn(&Router) -> Vec<Segment> + Send + Sync;

/// What carries packets through a segment.
#[derive(Clone)]
pub enum Code {
    /// Compiled code.
    Function(Arc<Function>),
    /// The fast paths of the elements themselves, one after the other: what compiled code must agree with.
    Elements,
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Code::Function(_) => "Function",
            Code::Elements => "Elements",
        })
    }
}

/// A tree of elements; in a pull path a chain, in the order of the packets' way.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The elements. The first is where packets enter, by input 0; each stands behind those that lead to it.
    pub nodes: Vec<Node>,
    /// Whether packets are pulled through it.
    pub is_pull: bool,
    /// What carries packets through it.
    pub code: Code,
}

/// An element in a segment.
#[derive(Clone, Debug)]
pub struct Node {
    /// The element.
    pub element: ElementId,
    /// Its code, as the segment's function has it.
    pub code: Arc<FastCode>,
    /// Exits of packets that this element must be asked about (the first of them), or that went on from here.
    pub exits: Range<Exit>,
    /// The ways on, by output.
    pub ways: Vec<Way>,
}

/// Where packets go by an output of an element in a segment.
#[derive(Clone, Debug)]
pub struct Way {
    /// Exits of packets that went this way.
    pub exits: Range<Exit>,
    /// The next element in the segment; none if this way leaves it, with one exit.
    pub node: Option<usize>,
}

impl Node {
    /// The output by which a packet with that exit left, or `None` if the element must be asked about it.
    #[inline]
    fn output(&self, exit: Exit) -> Option<usize> {
        self.ways.iter().position(|way| way.exits.contains(&exit))
    }
}

impl Router {
    /// The code of an element's fast path as it is configured now, if it has one.
    pub fn fast_code(&self, id: ElementId) -> Option<FastCode> {
        let element = self.elements[id.index()].as_deref()?;
        self.info(id).class.fast?.code(element)
    }

    /// Whether a pull from the element is a pull from its input 0, then its action on what came.
    pub fn passes_on(&self, id: ElementId) -> bool {
        self.passes_on[id.index()]
    }

    /// Lets packets run through segments. Those installed before are given up.
    pub fn install(&mut self, segments: Vec<Segment>) {
        self.segments = Segments::new(self, segments, None);
    }

    /// Lets packets run through the segments that `planner` finds. It is asked again whenever a handler has changed what an
    /// element in them does, or has changed it back.
    pub fn install_by(&mut self, planner: Arc<Planner>) {
        let segments = planner(self);
        self.segments = Segments::new(self, segments, Some(planner));
    }

    /// How many elements are in segments whose code is in use.
    pub fn elements_in_segments(&self) -> usize {
        self.segments.elements().count()
    }

    /// Finds the segments anew: an element may call handlers that it did not before. Without a planner there are none from
    /// now on.
    pub(crate) fn replan_segments(&mut self) {
        if !self.segments.is_empty() {
            let mut segments = std::mem::take(&mut self.segments);
            segments.replan(self);
            self.segments = segments;
        }
    }

    /// Looks whether segments still have the code of their element `id`, one of whose handlers was written.
    pub(crate) fn recheck_segments(&mut self, id: ElementId) {
        if !self.segments.is_empty() {
            let mut segments = std::mem::take(&mut self.segments);
            segments.recheck(id, self);
            self.segments = segments;
        }
    }
}
