//! The table against a list that does the same in the plainest way.

use super::super::flow_id::FlowId;
use super::super::input::{Input, Outputs, Spec};
use super::flow::{Place, state};
use super::*;
use proptest::prelude::*;

/// What happens, each a while after the last.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A packet of this flow, which leaves it in this state.
    Packet(u8, u8),
    /// Flows that have ended are removed.
    Reap,
    /// There may be so many flows from now on.
    Capacity(u8),
}

fn event() -> impl Strategy<Value = Event> {
    let states =
        prop_oneof![Just(0), Just(state::BOTH_DATA), Just(state::BOTH_DONE), Just(state::FORWARD_DONE)];
    prop_oneof![
        20 => (0u8..24, states).prop_map(|(flow, state)| Event::Packet(flow, state)),
        2 => Just(Event::Reap),
        1 => (1u8..16).prop_map(Event::Capacity),
    ]
}

/// A flow of the list.
#[derive(Clone, Copy, Debug)]
struct Known {
    flow: u8,
    last: u32,
    state: u8,
}

struct Plain {
    flows: Vec<Known>,
    capacity: usize,
    timeouts: Timeouts,
}

impl Plain {
    fn end(&self, known: &Known) -> u32 {
        known.last
            + match known.state {
                state::BOTH_DONE => self.timeouts.done,
                state::BOTH_DATA => self.timeouts.busy,
                _ => self.timeouts.usual,
            }
    }

    fn may_go(&self, known: &Known, now: u32) -> bool {
        now >= known.last + self.timeouts.guarantee
    }

    /// The flow that goes next, if one may.
    fn next(&self, now: u32) -> Option<usize> {
        let all = self.flows.iter().enumerate().filter(|(_, known)| self.may_go(known, now));
        all.min_by_key(|(_, known)| self.end(known)).map(|(at, _)| at)
    }

    fn packet(&mut self, flow: u8, state: u8, now: u32) {
        if !self.flows.iter().any(|known| known.flow == flow) {
            self.flows.push(Known { flow, last: now, state: 0 });
            if self.flows.len() > self.capacity {
                let victim = self.next(now).unwrap_or(self.flows.len() - 1);
                self.flows.remove(victim);
            }
        }
        if let Some(known) = self.flows.iter_mut().find(|known| known.flow == flow) {
            (known.last, known.state) = (now, state);
        }
    }

    fn reap(&mut self, now: u32) {
        let gone: Vec<u8> =
            self.flows.iter().filter(|k| self.may_go(k, now) && self.end(k) <= now).map(|k| k.flow).collect();
        self.flows.retain(|known| !gone.contains(&known.flow));
        while self.flows.len() > self.capacity {
            let by_guarantee = || (0..self.flows.len()).min_by_key(|&at| self.flows[at].last);
            let Some(victim) = self.next(now).or_else(by_guarantee) else { break };
            self.flows.remove(victim);
        }
    }
}

fn id(flow: u8) -> FlowId {
    FlowId { source: 1, destination: 2, source_port: flow.into(), destination_port: 3 }
}

fn packet(set: &mut FlowSet, table: u16, flow: u8, new_state: u8, now: u32) {
    let found = set.find(table, &id(flow)).map(|(place, _)| place);
    let new = || NewFlow {
        table,
        input: 0,
        id: id(flow),
        rewritten: FlowId { source: 9, ..id(flow) },
        outputs: Outputs::default(),
        protocol: 6,
        transport_delta: None,
    };
    // What a refused flow would have become is nobody's business.
    let place: Option<Place> = found.or_else(|| set.add(new(), now));
    if let Some(place) = place {
        let before = set.flow(place).state;
        set.flow_mut(place).state = new_state;
        set.touch(place, before, now);
    }
}

proptest! {
    #[test]
    fn the_same_flows_stay_as_if_all_deadlines_were_looked_at(
        events in proptest::collection::vec((1u32..5, event()), 1..300),
        guarantee in prop_oneof![Just(0u32), Just(60), Just(150)],
        start in prop_oneof![Just(1000u32), Just(u32::MAX - 2000)],
    ) {
        let timeouts = Timeouts { guarantee, usual: 301, busy: 3002, done: 103 };
        let mut plain = Plain { flows: Vec::new(), capacity: 8, timeouts };
        let mut set = FlowSet::new(|| 0x1234_5678);
        let member = set.add_member(vec![Input::new(Spec::Drop)]);
        let table = set.add_table(member, Tracking::Tcp, timeouts);
        set.capacity = 8;
        let mut time = 0;
        for (pause, event) in events {
            // All times are multiples of ten and no two timeouts are alike, so no two flows end at the same time.
            time += pause * 10;
            // The table's clock wraps, the list's does not.
            let now = start.wrapping_add(time);
            match event {
                Event::Packet(flow, new_state) => {
                    plain.packet(flow, new_state, time);
                    packet(&mut set, table, flow, new_state, now);
                }
                Event::Reap => {
                    plain.reap(time);
                    prop_assert!(set.reap(now, 10_000));
                }
                Event::Capacity(capacity) => {
                    (plain.capacity, set.capacity) = (capacity.into(), capacity.into());
                    plain.reap(time);
                    set.reap(now, 10_000);
                }
            }
            let mut expected: Vec<u8> = plain.flows.iter().map(|known| known.flow).collect();
            expected.sort_unstable();
            let there: Vec<u8> = (0..24).filter(|&flow| set.find(table, &id(flow)).is_some()).collect();
            prop_assert_eq!(&there, &expected, "{:?} at {}", event, time);
            prop_assert_eq!((set.size(), set.inputs(member)[0].count as usize), (expected.len(), expected.len()));
        }
        set.clear();
        prop_assert_eq!((set.size(), set.inputs(member)[0].count, set.list(table).len()), (0, 0, 0));
    }
}
