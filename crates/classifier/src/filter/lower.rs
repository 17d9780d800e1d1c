//! Checked primitives as word tests.

use super::names::{TCP, TCP_OR_UDP, UDP};
use super::primitive::{Field, Primitive, Question, Side};
use super::relation::Relation;
use crate::expr::{Expr, Test};
use crate::headers::Base;

/// The expression that asks what the primitive asks.
pub(crate) fn lower(primitive: &Primitive) -> Expr {
    let mut parts = Vec::new();
    parts.extend(primitive.protocol.and_then(of_protocol));
    if looks_at_transport(&primitive.question) {
        parts.push(Test::new(Base::Network, 4, 0x1fff, 0).into());
    }
    parts.extend(question(&primitive.question));
    Expr::And(parts)
}

/// Only the first fragment has a transport header.
fn looks_at_transport(question: &Question) -> bool {
    match question {
        Question::Port(..) | Question::TcpFlags(_) => true,
        Question::Field(field, _) => field.protocol.is_some(),
        _ => false,
    }
}

fn of_protocol(protocol: u32) -> Option<Expr> {
    let is = |number: u32| Expr::from(Test::new(Base::Network, 8, 0x00ff_0000, number << 16));
    match protocol {
        0..=255 => Some(is(protocol)),
        TCP_OR_UDP => Some(Expr::Or(vec![is(TCP), is(UDP)])),
        _ => None,
    }
}

fn question(question: &Question) -> Option<Expr> {
    let network = |offset| Test::new(Base::Network, offset, 0, 0);
    let ports = Test::new(Base::Transport, 0, 0, 0);
    Some(match question {
        Question::Nothing => return None,
        Question::Address(side, relation) => {
            let pair = sides(*side, relation.on(&network(12), 0), relation.on(&network(16), 0));
            perhaps_negated(pair, relation.negated)
        }
        Question::Port(side, relation) => {
            let pair = sides(*side, relation.on(&ports, 16), relation.on(&ports, 0));
            perhaps_negated(pair, relation.negated)
        }
        Question::Ether { side, address, mask, negated } => {
            let pair = sides(*side, ether_address(6, address, mask), ether_address(0, address, mask));
            perhaps_negated(pair, *negated)
        }
        Question::Protocol(relation) => perhaps_negated(relation.on(&network(8), 16), relation.negated),
        Question::Fragment { wanted } => {
            let whole = Test::new(Base::Network, 4, 0x3fff, 0).into();
            perhaps_negated(whole, *wanted)
        }
        Question::TcpFlags(flags) => Test::new(Base::Transport, 12, flags << 16, flags << 16).into(),
        Question::Field(field, relation) => field_relation(field, relation),
    })
}

fn perhaps_negated(expr: Expr, negated: bool) -> Expr {
    if negated { expr.negated_if_present() } else { expr }
}

fn sides(side: Side, source: Expr, destination: Expr) -> Expr {
    match side {
        Side::Source => source,
        Side::Destination => destination,
        Side::Either => Expr::Or(vec![source, destination]),
        Side::Both => Expr::And(vec![source, destination]),
    }
}

fn field_relation(field: &Field, relation: &Relation) -> Expr {
    let base = if field.protocol.is_some() { Base::Transport } else { Base::Network };
    let place = Test::new(base, (field.bit / 32 * 4) as u16, 0, 0);
    let shift = 32 - (field.bit % 32 + field.bits);
    perhaps_negated(relation.on(&place, shift), relation.negated)
}

/// The six bytes at `offset` of the Ethernet header (0 destination, 6 source), word by word at multiples of
/// 4.
fn ether_address(offset: usize, address: &[u8; 6], mask: &[u8; 6]) -> Expr {
    let words = (offset / 4 * 4..offset + 6).step_by(4).map(|word| {
        let at = |bytes: &[u8; 6]| {
            (word..word + 4).fold(0, |bits, place| {
                let byte = place.checked_sub(offset).and_then(|index| bytes.get(index)).copied().unwrap_or(0);
                bits << 8 | u32::from(byte)
            })
        };
        Test::new(Base::Ether, word as u16, at(mask), at(address)).into()
    });
    Expr::And(words.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::Headers;

    #[test]
    fn ether_addresses_lie_in_the_first_twelve_bytes() {
        let frame = [1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16, 8, 0];
        let headers = Headers::ip(&[], 0, 0).with_ether(&frame);
        assert!(ether_address(0, &[1, 2, 3, 4, 5, 6], &[0xff; 6]).holds(&headers));
        assert!(ether_address(6, &[11, 12, 13, 14, 15, 16], &[0xff; 6]).holds(&headers));
        assert!(!ether_address(6, &[11, 12, 13, 14, 15, 17], &[0xff; 6]).holds(&headers));
        assert!(ether_address(6, &[11, 0, 0, 0, 0, 0], &[0xff, 0, 0, 0, 0, 0]).holds(&headers));
    }
}
