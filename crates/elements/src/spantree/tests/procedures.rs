//! Single bridges, step by step: what IEEE 802.1D-1998 §8.6 to §8.8 prescribe.

use super::super::bpdu::Bpdu;
use super::super::bridge::MESSAGE_AGE_INCREMENT;
use super::super::port::{Role, State};
use super::{START, bridge, configs, id, says, seconds};
use std::time::Duration;

const BETTER: u16 = 0x1000;

#[test]
fn a_bridge_begins_as_root_and_says_so_on_every_port_each_hello_time() {
    let mut b = bridge(1, 3);
    assert!(b.is_root() && b.root_port().is_none());
    assert_eq!(b.ports().iter().map(|p| p.state).collect::<Vec<_>>(), [State::Listening; 3]);
    for round in 1..5u64 {
        assert_eq!(b.next_timer(), Some(START + seconds(2 * round - 1)), "the hold timer");
        b.run(START + seconds(2 * round - 1));
        assert!(b.take_messages().is_empty());
        b.run(START + seconds(2 * round));
        let said = configs(&mut b);
        assert_eq!(said.iter().map(|(port, _)| *port).collect::<Vec<_>>(), [0, 1, 2]);
        let (_, config) = said[2];
        assert_eq!(config.vector, says(b.id(), 0, b.id(), 0x8003).vector);
        assert_eq!((config.message_age, config.times), (Duration::ZERO, says(b.id(), 0, b.id(), 1).times));
    }
}

/// §8.7.5: fifteen seconds of listening, fifteen of learning.
#[test]
fn ports_listen_and_learn_for_a_forward_delay_each() {
    let mut b = bridge(1, 1);
    let mut state_at = |time: Duration| {
        b.run(START + time);
        b.ports()[0].state
    };
    let short = Duration::from_nanos(1);
    assert_eq!(state_at(seconds(15) - short), State::Listening);
    assert_eq!(state_at(seconds(15)), State::Learning);
    assert_eq!(state_at(seconds(30) - short), State::Learning);
    assert_eq!(state_at(seconds(30)), State::Forwarding);
}

/// What counts is the root's word, also for ports that listened before it came.
#[test]
fn the_forward_delay_is_the_roots() {
    for delay in [8, 20] {
        let mut b = bridge(0x30, 1);
        let mut word = says(id(BETTER, 9), 0, id(BETTER, 9), 1);
        word.times.forward_delay = seconds(delay);
        b.receive(0, &Bpdu::Config(word), START + seconds(5)).unwrap();
        assert!(b.next_timer() <= Some(START + seconds(delay)));
        b.run(START + seconds(delay) - Duration::from_nanos(1));
        assert_eq!(b.ports()[0].state, State::Listening);
        b.run(START + seconds(delay));
        assert_eq!(b.ports()[0].state, State::Learning);
    }
}

/// §8.6.8: root identifier, then cost, then bridge, then its port, then our own port.
#[test]
fn the_root_port_is_chosen_in_the_order_of_the_standard() {
    let (root, near, far) = (id(BETTER, 9), id(0x8000, 0x10), id(0x8000, 0x20));
    let chosen = |messages: &[super::super::bpdu::Config]| {
        let mut b = bridge(0x30, messages.len());
        for (port, message) in messages.iter().enumerate() {
            b.receive(port, &Bpdu::Config(*message), START).unwrap();
        }
        (b.root_port(), b.root_cost())
    };
    assert_eq!(chosen(&[says(root, 0, root, 1), says(id(0x0FFF, 9), 900, far, 1)]), (Some(1), 910));
    assert_eq!(chosen(&[says(root, 5, near, 1), says(root, 4, far, 1)]), (Some(1), 14));
    assert_eq!(chosen(&[says(root, 5, far, 1), says(root, 5, near, 2)]), (Some(1), 15));
    assert_eq!(chosen(&[says(root, 5, near, 2), says(root, 5, near, 1)]), (Some(1), 15));
    assert_eq!(chosen(&[says(root, 5, near, 1), says(root, 5, near, 1)]), (Some(0), 15));
    assert_eq!(chosen(&[says(id(0x9000, 1), 0, id(0x9000, 1), 1)]), (None, 0), "worse than ourselves");
}

/// §8.6.9: a LAN belongs to the bridge that is nearer to the root, then to the one with the lower identifier.
#[test]
fn a_lan_belongs_to_the_better_bridge() {
    let root = id(BETTER, 9);
    let role = |cost: u32, other: usize| {
        let mut b = bridge(0x30, 2);
        b.receive(0, &Bpdu::Config(says(root, 0, root, 1)), START).unwrap();
        b.receive(1, &Bpdu::Config(says(root, cost, id(0x8000, other), 1)), START).unwrap();
        (b.role(1), b.ports()[1].state)
    };
    assert_eq!(role(9, 0x40), (Role::Blocked, State::Blocking));
    assert_eq!(role(10, 0x20), (Role::Blocked, State::Blocking));
    assert_eq!(role(10, 0x40), (Role::Designated, State::Listening));
    assert_eq!(role(11, 0x20), (Role::Designated, State::Listening));
}

/// §8.6.5: a worse bridge is told at once, at most once in a hold time.
#[test]
fn who_says_something_worse_gets_an_answer() {
    let mut b = bridge(1, 2);
    b.run(START + seconds(1));
    let worse = Bpdu::Config(says(id(0x9000, 5), 0, id(0x9000, 5), 1));
    for _ in 0..10 {
        b.receive(1, &worse, START + Duration::from_millis(1100)).unwrap();
    }
    assert_eq!(configs(&mut b).len(), 1);
    b.run(START + seconds(2));
    assert_eq!(configs(&mut b).iter().map(|(port, _)| *port).collect::<Vec<_>>(), [0], "the other's hello");
    b.run(START + Duration::from_millis(2100));
    assert_eq!(configs(&mut b).iter().map(|(port, _)| *port).collect::<Vec<_>>(), [1], "what was pending");
}

#[test]
fn the_roots_word_is_passed_on_older_and_with_its_times() {
    let mut b = bridge(0x30, 2);
    b.run(START + seconds(1));
    let root = id(BETTER, 9);
    let mut config = says(root, 7, id(0x8000, 5), 3);
    config.message_age = seconds(2);
    config.times.max_age = seconds(30);
    config.times.forward_delay = seconds(20);
    b.receive(0, &Bpdu::Config(config), START + seconds(1)).unwrap();
    let said = configs(&mut b);
    assert_eq!((said.len(), said[0].0), (1, 1));
    assert_eq!(said[0].1.vector, says(root, 17, b.id(), 0x8002).vector);
    let passed_on = (said[0].1.message_age, said[0].1.times);
    assert_eq!(passed_on, (seconds(2) + MESSAGE_AGE_INCREMENT, config.times));
    // An answer five seconds later is so much older.
    b.run(START + seconds(6));
    b.receive(1, &Bpdu::Config(says(id(0x9000, 5), 0, id(0x9000, 5), 1)), START + seconds(6)).unwrap();
    assert_eq!(configs(&mut b)[0].1.message_age, seconds(7) + MESSAGE_AGE_INCREMENT);
    // It holds as long as it says it may.
    b.run(START + seconds(29) - Duration::from_nanos(1));
    assert!(!b.is_root());
    b.run(START + seconds(29));
    assert!(b.is_root());
    assert_eq!(configs(&mut b)[0].1.times, says(root, 0, root, 1).times);
}

#[test]
fn what_is_too_old_or_our_own_is_refused() {
    let mut b = bridge(1, 2);
    let mut old = says(id(BETTER, 9), 0, id(BETTER, 9), 1);
    old.message_age = old.times.max_age;
    assert_eq!(b.receive(0, &Bpdu::Config(old), START), Err("BPDU too old"));
    // A maximum beyond the standard's is not believed.
    (old.message_age, old.times.max_age) = (seconds(40), seconds(250));
    assert_eq!(b.receive(0, &Bpdu::Config(old), START), Err("BPDU too old"));
    let own = says(b.id(), 0, b.id(), 0x8001);
    assert_eq!(b.receive(0, &Bpdu::Config(own), START), Err("own BPDU came back"));
    assert_eq!(b.receive(7, &Bpdu::Config(own), START), Err("port is disabled"));
    assert!(b.is_root());
}

#[test]
fn forged_times_are_not_obeyed() {
    let mut b = bridge(1, 1);
    let mut config = says(id(BETTER, 9), 0, id(BETTER, 9), 1);
    (config.times.forward_delay, config.times.hello) = (Duration::ZERO, Duration::ZERO);
    b.receive(0, &Bpdu::Config(config), START).unwrap();
    assert_eq!((b.times().forward_delay, b.times().hello), (seconds(2), seconds(1)));
}

/// §8.6.6, §8.6.14, §8.6.15: told again every hello time until somebody takes note.
#[test]
fn a_change_is_told_towards_the_root_until_it_is_acknowledged() {
    let mut b = bridge(0x30, 2);
    let root = id(BETTER, 9);
    let mut word = says(root, 0, root, 1);
    let at = |time: u64| START + seconds(time);
    b.receive(0, &Bpdu::Config(word), at(0)).unwrap();
    b.take_messages();
    let mut told = Vec::new();
    for time in 1..=36 {
        if time % 2 == 0 {
            word.change_acknowledged = time == 36;
            b.receive(0, &Bpdu::Config(word), at(time)).unwrap();
        }
        b.run(at(time));
        let notes = b.take_messages().into_iter().filter(|m| *m == (0, Bpdu::Change));
        told.extend(notes.map(|_| time));
    }
    assert_eq!(told, [30, 32, 34], "the ports forward at 30, two at once are one change");
    b.run(at(40));
    assert!(b.take_messages().is_empty() && b.changes() == 1);
}

/// §8.6.14, §8.6.16, §8.7.7: for a maximum age and a forward delay.
#[test]
fn the_root_acknowledges_a_change_and_announces_it() {
    let mut b = bridge(1, 2);
    let mut time = 0;
    let mut run_to = |b: &mut super::super::bridge::Bridge, end: u64| {
        while time < end {
            time += 1;
            b.run(START + seconds(time));
        }
        configs(b)
    };
    run_to(&mut b, 80);
    assert_eq!(b.short_ageing(), None);
    b.receive(1, &Bpdu::Change, START + seconds(80)).unwrap();
    assert_eq!(b.short_ageing(), Some(seconds(15)));
    let said = run_to(&mut b, 114);
    let acknowledged: Vec<_> = said.iter().filter(|(_, c)| c.change_acknowledged).map(|(p, _)| *p).collect();
    assert_eq!(acknowledged, [1], "once, to who told it");
    assert!(said.iter().all(|(_, c)| c.change));
    assert!(run_to(&mut b, 118).iter().all(|(_, c)| !c.change));
    assert_eq!(b.short_ageing(), None);
}

#[test]
fn a_notification_to_another_bridge_is_none_of_ours() {
    let mut b = bridge(0x30, 1);
    b.receive(0, &Bpdu::Config(says(id(BETTER, 9), 0, id(BETTER, 9), 1)), START).unwrap();
    assert_eq!(b.receive(0, &Bpdu::Change, START), Err("notification to another bridge"));
}

/// §8.6.12, §8.6.13: what the switch learnt is forgotten as long as the root says so.
#[test]
fn the_roots_flag_shortens_ageing() {
    let mut b = bridge(0x30, 1);
    let mut word = says(id(BETTER, 9), 0, id(BETTER, 9), 1);
    word.change = true;
    b.receive(0, &Bpdu::Config(word), START).unwrap();
    assert_eq!(b.short_ageing(), Some(seconds(15)));
    word.change = false;
    b.receive(0, &Bpdu::Config(word), START).unwrap();
    assert_eq!(b.short_ageing(), None);
}

#[test]
fn management_moves_the_root() {
    let mut b = bridge(0x30, 2);
    let root = id(BETTER, 9);
    b.receive(1, &Bpdu::Config(says(root, 0, root, 1)), START).unwrap();
    b.run(START + seconds(1));
    b.set_priority(0x0100, START + seconds(3));
    assert!(b.is_root() && b.id() == id(0x0100, 0x30));
    let said = configs(&mut b);
    assert!(said.iter().any(|(port, c)| *port == 1 && c.vector.root == b.id()), "{said:?}");
    // A worse priority: still the root until another says that it is better.
    b.set_priority(0x9000, START + seconds(4));
    assert!(b.is_root());
    b.receive(1, &Bpdu::Config(says(root, 0, root, 1)), START + seconds(5)).unwrap();
    assert_eq!((b.root(), b.root_port()), (root, Some(1)));
}

#[test]
fn management_moves_the_root_port() {
    let root = id(BETTER, 9);
    let mut b = bridge(0x30, 2);
    b.receive(0, &Bpdu::Config(says(root, 0, root, 1)), START).unwrap();
    b.receive(1, &Bpdu::Config(says(root, 0, root, 2)), START).unwrap();
    assert_eq!((b.root_port(), b.role(1)), (Some(0), Role::Blocked));
    b.set_path_cost(0, 11, START);
    assert_eq!((b.root_port(), b.root_cost(), b.role(0)), (Some(1), 10, Role::Blocked));
    b.disable_port(1, START);
    assert_eq!((b.root_port(), b.role(1), b.ports()[1].state), (Some(0), Role::Disabled, State::Disabled));
    b.disable_port(0, START);
    assert!(b.is_root());
    b.enable_port(0, START + seconds(1));
    assert_eq!((b.role(0), b.ports()[0].state), (Role::Designated, State::Listening));
}

/// §8.8.5: of two ports on one LAN, the other becomes the designated one.
#[test]
fn management_moves_the_designated_port() {
    let mut b = bridge(1, 2);
    let own = says(b.id(), 0, b.id(), 0x8001);
    b.receive(1, &Bpdu::Config(own), START).unwrap();
    assert_eq!([b.role(0), b.role(1)], [Role::Designated, Role::Blocked]);
    b.set_port_priority(1, 0x10, START);
    assert_eq!(b.role(1), Role::Designated);
    assert_eq!(b.ports()[1].id.0, 0x1002);
}
