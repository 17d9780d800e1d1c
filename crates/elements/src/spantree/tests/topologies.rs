//! Whole networks: they become trees, mend themselves, and outlive hostile messages.

use super::super::bpdu::{Bpdu, BridgeId, Config, PortId, Times, Vector};
use super::super::port::{Role, State};
use super::network::{Network, Plan};
use super::{id, seconds};
use proptest::prelude::*;
use std::time::Duration;

/// In which a network settles after anything that happens, by the times that its root says: what was known expires, and a
/// port listens and learns. One hello and a hold time for each bridge on the way come on top.
fn settling(times: Times, bridges: usize) -> Duration {
    times.max_age + times.forward_delay * 2 + times.hello + seconds(bridges as u64)
}

#[test]
fn a_ring_of_three_blocks_one_port_and_mends_a_cut() {
    let mut n = Network::new(&Plan::new(3, &[&[0, 1], &[1, 2], &[2, 0]]));
    n.run_for(seconds(31));
    n.assert_tree();
    assert_eq!(n.roots(), [id(0x8000, 0); 3]);
    // The link between the two that are not root is cut off at the worse end.
    assert_eq!(n.bridges[2].role(0), Role::Blocked);
    assert_eq!(n.bridges[1].role(1), Role::Designated);
    n.is_cut[0] = true;
    n.run_for(settling(Times::RECOMMENDED, 3));
    n.assert_tree();
    assert_eq!((n.bridges[1].root_port(), n.bridges[1].root_cost()), (Some(1), 20));
    n.is_cut[0] = false;
    n.watch_loops = false;
    n.run_for(settling(Times::RECOMMENDED, 3));
    n.assert_tree();
    assert_eq!(n.bridges[1].root_port(), Some(0));
}

#[test]
fn a_dead_root_is_replaced() {
    let mut n = Network::new(&Plan::new(4, &[&[0, 1], &[0, 2], &[0, 3], &[1, 2], &[2, 3], &[3, 1]]));
    n.run_for(seconds(31));
    n.assert_tree();
    (0..3).for_each(|lan| n.is_cut[lan] = true);
    n.run_for(settling(Times::RECOMMENDED, 4));
    n.assert_tree();
    assert_eq!(n.roots()[1..], [id(0x8000, 1); 3]);
}

#[test]
fn a_cable_from_a_bridge_to_itself_is_blocked() {
    let mut n = Network::new(&Plan::new(1, &[&[0, 0], &[0]]));
    n.run_for(seconds(31));
    n.assert_tree();
    assert_eq!(n.states()[0], [State::Forwarding, State::Blocking, State::Forwarding]);
}

/// Seven bridges in a row, the longest that 802.1D recommends.
#[test]
fn news_of_a_change_reaches_the_root_and_returns_to_all() {
    let row: Vec<[usize; 2]> = (0..6).map(|n| [n, n + 1]).collect();
    let mut lans: Vec<&[usize]> = row.iter().map(|pair| &pair[..]).collect();
    lans.push(&[6]);
    let mut n = Network::new(&Plan::new(7, &lans));
    n.run_for(seconds(90));
    n.assert_tree();
    assert!(n.bridges.iter().all(|b| b.short_ageing().is_none()), "the first changes are over");
    let (port, now) = (n.bridges[6].ports().len() - 1, n.now);
    let ageing = |n: &Network| n.bridges.iter().filter(|b| b.short_ageing().is_some()).count();
    n.bridges[6].disable_port(port, now);
    n.bridges[6].enable_port(port, now);
    n.run_for(seconds(29));
    assert_eq!(ageing(&n), 0, "a change is when the port forwards");
    n.run_for(seconds(7));
    assert_eq!(ageing(&n), 7, "the notification went up six bridges, the root's next word came down");
    n.run_for(seconds(20 + 15 + 2));
    assert_eq!(ageing(&n), 0);
    n.assert_tree();
}

/// With the shortest times, where each bridge may hold a message for as long as the root waits between two, messages do not
/// live to cross many bridges.
fn times(bridges: usize) -> impl Strategy<Value = Times> {
    let all = [(20, 2, 15), (40, 10, 30), (10, 3, 6), (6, 1, 4)];
    let allowed = if bridges > 3 { &all[..3] } else { &all };
    prop::sample::select(allowed.to_vec()).prop_map(|(age, hello, delay)| Times {
        max_age: seconds(age),
        hello: seconds(hello),
        forward_delay: seconds(delay),
    })
}

/// Up to seven bridges on up to twelve LANs: loops, parallel cables, hubs, bridges on their own.
fn plan() -> impl Strategy<Value = Plan> {
    (1usize..=7).prop_flat_map(|bridges| {
        let priorities = prop::collection::vec(0u16..3, bridges);
        let lan = (prop::collection::vec(0..bridges, 1..=3), 1u32..20);
        (priorities, prop::collection::vec(lan, 1..=12), times(bridges))
            .prop_map(|(priorities, lans, times)| Plan { priorities, lans, times })
    })
}

/// A message that anybody could have made up.
fn forged() -> impl Strategy<Value = Bpdu> {
    let ticks = |most: u64| (0..=most).prop_map(|n| Duration::from_nanos(n * 3_906_250));
    let vector = (0u64..=u64::MAX, any::<u32>(), any::<u64>(), any::<u16>());
    let low = (0u64..4, 0u32..30, 0u64..4, 0u16..4);
    let times = (ticks(0xFFFF), ticks(0xFFFF), ticks(0xFFFF));
    (prop_oneof![vector.boxed(), low.boxed()], any::<[bool; 3]>(), ticks(0xFFFF), times).prop_map(
        |((root, cost, bridge, port), [is_change, change, change_acknowledged], message_age, t)| {
            let vector = Vector { root: BridgeId(root), cost, bridge: BridgeId(bridge), port: PortId(port) };
            let times = Times { max_age: t.0, hello: t.1, forward_delay: t.2 };
            match is_change {
                true => Bpdu::Change,
                false => Bpdu::Config(Config { vector, change, change_acknowledged, message_age, times }),
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// At no moment is there a loop, not even while the network settles; then it is a tree, and stays as it is.
    #[test]
    fn every_network_becomes_a_tree_and_mends_cuts(
        plan in plan(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0u64..5000), 0..4),
    ) {
        let mut n = Network::new(&plan);
        let settling = settling(plan.times, plan.priorities.len());
        n.run_for(settling);
        n.assert_tree();
        for (lan, wait) in cuts {
            n.run_for(Duration::from_millis(wait));
            let lan = lan.index(n.lans.len());
            n.is_cut[lan] = true;
            n.run_for(settling);
            n.assert_tree();
        }
        let states = n.states();
        n.run_for(seconds(200));
        prop_assert_eq!(n.states(), states);
    }

    /// Whatever is said to them meanwhile, when it ends the bridges find back to their tree and stay there.
    #[test]
    fn forged_messages_do_no_lasting_harm(
        plan in plan(),
        forged in prop::collection::vec((any::<prop::sample::Index>(), forged(), 0u64..3000), 1..40),
    ) {
        let mut n = Network::new(&plan);
        n.watch_loops = false;
        let settling = settling(plan.times, plan.priorities.len());
        n.run_for(settling);
        let before = n.roots();
        for (lan, message, wait) in forged {
            let lan = lan.index(n.lans.len());
            let places = n.lans[lan].clone();
            places.into_iter().for_each(|place| n.inject(place, message));
            n.run_for(Duration::from_millis(wait));
        }
        // The longest times that a forged root can prescribe, then our own.
        n.run_for(seconds(40 + 2 * 30) + settling);
        n.assert_tree();
        prop_assert_eq!(n.roots(), before);
        let states = n.states();
        n.watch_loops = true;
        n.run_for(seconds(200));
        prop_assert_eq!(n.states(), states);
    }
}
