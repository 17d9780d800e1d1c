//! The segments installed in a router, found by the input where packets enter or, for pull, the output they are asked
//! from.

use super::{Code, Exit, Planner, Segment};
use crate::element::Element;
use crate::fast::FastCode;
use crate::router::{ElementId, Endpoint, Info, Router};
use clickwork_packet::Packet;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

type Elements = [Option<Box<dyn Element>>];

/// A segment in a router.
#[derive(Debug)]
pub(crate) struct Installed {
    pub segment: Segment,
    /// By exit: how packets get there.
    pub routes: Vec<Route>,
}

/// A segment, and whether it may be used.
#[derive(Debug)]
struct Entry {
    installed: Arc<Installed>,
    /// The elements whose code is another one now. It is used while there are none.
    changed: BTreeSet<ElementId>,
}

/// The way to an exit.
#[derive(Debug, Clone, Default)]
pub(crate) struct Route {
    /// The elements on it, the first one included.
    pub elements: Vec<ElementId>,
    /// The output by which the last of them is left; none if it must be asked.
    pub end: Option<Endpoint>,
}

/// The table.
#[derive(Default)]
pub(crate) struct Segments {
    entries: Vec<Entry>,
    /// By element: 1 + the segment that is entered there or, in a pull path, asked there; 0 if there is none. Empty if
    /// there are no segments.
    by_element: Vec<u32>,
    /// By element: its code as segments have it, and which segments.
    uses: HashMap<ElementId, (Arc<FastCode>, Vec<u32>)>,
    planner: Option<Arc<Planner>>,
    /// Elements that the planner left out after their code had changed, and the code that they had in segments.
    left_out: Vec<(ElementId, Arc<FastCode>)>,
}

impl Segments {
    pub fn new(router: &Router, segments: Vec<Segment>, planner: Option<Arc<Planner>>) -> Segments {
        let by_element = vec![0; router.len()];
        let mut table = Segments { by_element, planner, ..Segments::default() };
        for segment in segments {
            table.add(segment);
        }
        let used: Vec<ElementId> = table.uses.keys().copied().collect();
        used.into_iter().for_each(|id| _ = table.compare(id, router.fast_code(id).as_ref()));
        table
    }

    fn add(&mut self, segment: Segment) {
        let Some(place) = place(&segment) else { return };
        let number = self.entries.len() as u32;
        for node in &segment.nodes {
            let (_, segments) =
                self.uses.entry(node.element).or_insert_with(|| (Arc::clone(&node.code), Vec::new()));
            if segments.last() != Some(&number) {
                segments.push(number);
            }
        }
        self.entries.push(Entry { installed: Arc::new(Installed::new(segment)), changed: BTreeSet::new() });
        self.by_element[place.index()] = number + 1;
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.left_out.is_empty()
    }

    /// The segment that packets enter with input `to`.
    #[inline]
    pub fn entered(&self, to: Endpoint) -> Option<&Arc<Installed>> {
        let installed = self.at(to.element)?;
        (to.port == 0 && !installed.segment.is_pull).then_some(installed)
    }

    /// The segment that packets asked of output `from` come through.
    #[inline]
    pub fn asked(&self, from: Endpoint) -> Option<&Arc<Installed>> {
        let installed = self.at(from.element)?;
        (from.port == 0 && installed.segment.is_pull).then_some(installed)
    }

    #[inline]
    fn at(&self, id: ElementId) -> Option<&Arc<Installed>> {
        let &number = self.by_element.get(id.index())?;
        let entry = self.entries.get((number as usize).checked_sub(1)?)?;
        entry.changed.is_empty().then_some(&entry.installed)
    }

    /// The elements in segments that are in use.
    pub fn elements(&self) -> impl Iterator<Item = ElementId> + use<> {
        let in_use = self.entries.iter().filter(|entry| entry.changed.is_empty());
        let all: BTreeSet<_> =
            in_use.flat_map(|e| e.installed.segment.nodes.iter().map(|node| node.element)).collect();
        all.into_iter()
    }

    /// Compares the code of an element with what segments have of it, and uses only those that agree, or what the planner
    /// has instead.
    pub fn recheck(&mut self, id: ElementId, router: &Router) {
        let code = router.fast_code(id);
        let came_back =
            self.left_out.iter().position(|(left, had)| *left == id && code.as_ref() == Some(&**had));
        let stale = self.compare(id, code.as_ref());
        let Some(planner) = self.planner.clone().filter(|_| came_back.is_some() || stale.is_some()) else {
            return;
        };
        let mut left_out = std::mem::take(&mut self.left_out);
        came_back.map(|at| left_out.swap_remove(at));
        left_out.extend(stale.map(|had| (id, had)));
        *self = Segments { left_out, ..Segments::new(router, planner(router), Some(planner)) };
    }

    /// Replaces all segments by what the planner finds now.
    pub fn replan(&mut self, router: &Router) {
        let Some(planner) = self.planner.clone() else {
            *self = Segments::default();
            return;
        };
        let left_out = std::mem::take(&mut self.left_out);
        *self = Segments { left_out, ..Segments::new(router, planner(router), Some(planner)) };
    }

    /// Notes in the segments of an element whether they agree with its code now. Returns what they have if they do not.
    fn compare(&mut self, id: ElementId, now: Option<&FastCode>) -> Option<Arc<FastCode>> {
        let (code, segments) = self.uses.get(&id)?;
        let is_same = now == Some(&**code);
        for &number in segments {
            let changed = &mut self.entries[number as usize].changed;
            if is_same {
                changed.remove(&id)
            } else {
                changed.insert(id)
            };
        }
        (!is_same).then(|| Arc::clone(code))
    }
}

/// The element that a segment is found by.
fn place(segment: &Segment) -> Option<ElementId> {
    let node = if segment.is_pull { segment.nodes.last() } else { segment.nodes.first() };
    node.map(|node| node.element)
}

impl Installed {
    fn new(segment: Segment) -> Installed {
        let exits = segment.nodes.first().map_or(0, |node| node.exits.end);
        let routes = (0..exits).map(|exit| route(&segment, exit)).collect();
        Installed { segment, routes }
    }

    /// Runs the function; says whether exits differ.
    #[inline]
    pub fn run(
        &self,
        elements: &Elements,
        infos: &[Info],
        packets: &mut [Packet],
        exits: &mut [Exit],
    ) -> bool {
        match &self.segment.code {
            Code::Function(function) => function(packets, exits),
            Code::Elements => self.run_elements(elements, infos, packets, exits),
        }
    }

    fn run_elements(
        &self,
        elements: &Elements,
        infos: &[Info],
        packets: &mut [Packet],
        exits: &mut [Exit],
    ) -> bool {
        for (p, exit) in packets.iter_mut().zip(exits.iter_mut()) {
            *exit = self.run_one(p, |id, p| {
                let element = elements[id.index()].as_deref()?;
                infos[id.index()].class.fast?.run(element, p)
            });
        }
        exits.windows(2).any(|pair| pair[0] != pair[1])
    }

    fn run_one(&self, p: &mut Packet, fast: impl Fn(ElementId, &mut Packet) -> Option<u16>) -> Exit {
        let mut node = &self.segment.nodes[0];
        loop {
            let way = fast(node.element, p).and_then(|output| node.ways.get(usize::from(output)));
            match way.map(|way| way.node) {
                None => return node.exits.start,
                Some(Some(next)) => node = &self.segment.nodes[next],
                Some(None) => return way.map_or(0, |way| way.exits.start),
            }
        }
    }
}

fn route(segment: &Segment, exit: Exit) -> Route {
    let mut route = Route::default();
    let mut next = Some(0);
    while let Some(number) = next {
        let node = &segment.nodes[number];
        route.elements.push(node.element);
        let output = node.output(exit);
        route.end = output.map(|output| Endpoint { element: node.element, port: output as u16 });
        next = output.and_then(|output| node.ways[output].node);
    }
    route
}
