//! What a gateway does to the options of packets it forwards: record route and timestamp (RFC 791 §3.1, RFC 1812
//! §5.2.4 and §5.3.13).
//!
//! Source routes are left alone, as Click leaves them.

use super::addresses::AddressSet;
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::headers::options::{END, NO_OPERATION};
use clickwork_packet::headers::{Ipv4Mut, ipv4::option};
use clickwork_packet::{Packet, Timestamp, anno};

/// Who the gateway is.
pub struct Gateway {
    /// The address it records.
    pub address: Ipv4Address,
    /// All its addresses.
    pub addresses: AddressSet,
}

/// Where in the IP header the fault is, for the pointer of a parameter problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadOption(pub u8);

impl Gateway {
    /// Records this gateway in the packet's options, and renews the checksum if one of them was for gateways. A packet
    /// with a bad option is left as it was, except for the annotation that tells where the fault is.
    pub fn process(&self, p: &mut Packet, now: Timestamp) -> Result<(), BadOption> {
        let mut options = [0; 40];
        let Some(header @ [first, ..]) = p.network_header() else { return Ok(()) };
        let len = usize::from(first & 0xF) * 4;
        let Some(found) = header.get(20..len.min(header.len())) else { return Ok(()) };
        let options = &mut options[..found.len()];
        options.copy_from_slice(found);
        match self.record(options, milliseconds_since_midnight(now)) {
            Ok(false) => {}
            Ok(true) => write_back(p, options),
            Err(at) => {
                p.set_anno_u8(anno::ICMP_PARAMPROB.offset, at + 20);
                return Err(BadOption(at + 20));
            }
        }
        Ok(())
    }

    /// Whether there was an option for gateways; else where in `options` the fault is.
    fn record(&self, options: &mut [u8], time: u32) -> Result<bool, u8> {
        let (mut at, mut touched) = (0, false);
        while let Some(&kind) = options.get(at).filter(|&&kind| kind != END) {
            if kind == NO_OPERATION {
                at += 1;
                continue;
            }
            let len = options.get(at + 1).copied().map_or(0, usize::from);
            let Some(option) = options.get_mut(at..at + len).filter(|_| len >= 2) else {
                return Err(at as u8 + 1);
            };
            match kind {
                option::RECORD_ROUTE => self.record_route(option).map_err(|e| at as u8 + e)?,
                option::TIMESTAMP => self.stamp(option, time).map_err(|e| at as u8 + e)?,
                _ => {}
            }
            touched |= matches!(kind, option::RECORD_ROUTE | option::TIMESTAMP);
            at += len;
        }
        Ok(touched)
    }

    fn record_route(&self, option: &mut [u8]) -> Result<(), u8> {
        let next = next_entry(option).filter(|&n| n >= 3).ok_or(2)?;
        if next == option.len() {
            return Ok(());
        }
        option.get_mut(next..next + 4).ok_or(2)?.copy_from_slice(&self.address.octets());
        option[2] += 4;
        Ok(())
    }

    fn stamp(&self, option: &mut [u8], time: u32) -> Result<(), u8> {
        let next = next_entry(option).filter(|&n| n >= 4 && option.len() >= 4).ok_or(2)?;
        let room = option.len().saturating_sub(next);
        let time = time.to_be_bytes();
        let used = match option[3] & 0xF {
            0 if room >= 4 => {
                option[next..next + 4].copy_from_slice(&time);
                4
            }
            1 if room >= 8 => {
                option[next..next + 4].copy_from_slice(&self.address.octets());
                option[next + 4..next + 8].copy_from_slice(&time);
                8
            }
            0 | 1 => return count_overflow(&mut option[3]),
            3 if room >= 8 => match self.is_mine(&option[next..]) {
                true => {
                    option[next + 4..next + 8].copy_from_slice(&time);
                    8
                }
                false => 0,
            },
            _ => return Err(3),
        };
        option[2] += used;
        Ok(())
    }

    fn is_mine(&self, entry: &[u8]) -> bool {
        entry.first_chunk().is_some_and(|&octets| self.addresses.contains(Ipv4Address::from_octets(octets)))
    }
}

/// Where an option's pointer, which counts from 1, points within the option.
fn next_entry(option: &[u8]) -> Option<usize> {
    usize::from(*option.get(2)?).checked_sub(1)
}

/// Counts a gateway that found no room. The count has four bits.
fn count_overflow(overflow_and_flag: &mut u8) -> Result<(), u8> {
    *overflow_and_flag = overflow_and_flag.checked_add(0x10).ok_or(3)?;
    Ok(())
}

fn milliseconds_since_midnight(now: Timestamp) -> u32 {
    (now.nanos().div_euclid(1_000_000) % 86_400_000) as u32
}

fn write_back(p: &mut Packet, options: &[u8]) {
    if let Some(mut ip) = p.network_header_mut().and_then(Ipv4Mut::new) {
        ip.option_bytes_mut().copy_from_slice(options);
        ip.fill_checksum();
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::ip;
    use super::*;

    const NOON: u32 = 43_200_000;

    fn gateway() -> Gateway {
        let mut addresses = AddressSet::default();
        addresses.extend([Ipv4Address::new(9, 9, 9, 9), Ipv4Address::new(8, 8, 8, 8)]);
        Gateway { address: Ipv4Address::new(9, 9, 9, 9), addresses }
    }

    /// What becomes of options.
    fn recorded(options: &[u8]) -> Result<Vec<u8>, u8> {
        let mut options = options.to_vec();
        gateway().record(&mut options, NOON).map(|_| options)
    }

    #[test]
    fn routes_are_recorded_while_there_is_room() {
        assert_eq!(recorded(&[1, 7, 7, 4, 0, 0, 0, 0, 0]), Ok(vec![1, 7, 7, 8, 9, 9, 9, 9, 0]));
        let full = [7, 7, 8, 1, 2, 3, 4, 0];
        assert_eq!(recorded(&full), Ok(full.to_vec()));
        for (bad, at) in [
            (&[7, 7, 3, 0, 0, 0, 0][..], 2),
            (&[7, 7, 6, 0, 0, 0, 0], 2),
            (&[7, 7, 0, 0, 0, 0, 0], 2),
            (&[1, 7, 2], 3),
        ] {
            assert_eq!(recorded(bad), Err(at), "{bad:?}");
        }
    }

    #[test]
    fn times_are_stamped_as_the_flag_says() {
        let [a, b, c, d] = NOON.to_be_bytes();
        assert_eq!(recorded(&[68, 8, 5, 0, 0, 0, 0, 0]), Ok(vec![68, 8, 9, 0, a, b, c, d]));
        assert_eq!(
            recorded(&[68, 12, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
            Ok(vec![68, 12, 13, 1, 9, 9, 9, 9, a, b, c, d])
        );
        assert_eq!(
            recorded(&[68, 12, 5, 3, 8, 8, 8, 8, 0, 0, 0, 0]),
            Ok(vec![68, 12, 13, 3, 8, 8, 8, 8, a, b, c, d])
        );
        let for_another = [68, 12, 5, 3, 7, 7, 7, 7, 0, 0, 0, 0];
        assert_eq!(recorded(&for_another), Ok(for_another.to_vec()));
    }

    #[test]
    fn stamps_without_room_are_counted_until_the_count_is_full() {
        assert_eq!(recorded(&[68, 8, 9, 0x20, 1, 1, 1, 1]), Ok(vec![68, 8, 9, 0x30, 1, 1, 1, 1]));
        assert_eq!(recorded(&[68, 8, 9, 0xF1, 1, 1, 1, 1]), Err(3));
        assert_eq!(recorded(&[68, 8, 4, 0, 1, 1, 1, 1]), Err(2));
        assert_eq!(recorded(&[68, 8, 9, 3, 1, 1, 1, 1]), Err(3));
        assert_eq!(recorded(&[68, 3, 9]), Err(2));
    }

    #[test]
    fn bad_lengths_are_found_and_other_options_passed_over() {
        assert_eq!(recorded(&[131, 3, 4, 148, 4, 0, 0, 0]), Ok(vec![131, 3, 4, 148, 4, 0, 0, 0]));
        assert_eq!(recorded(&[1, 148, 4, 0]), Err(2));
        assert_eq!(recorded(&[1, 1, 1, 148]), Err(4));
        assert_eq!(recorded(&[148, 1, 0, 0]), Err(1));
    }

    #[test]
    fn the_checksum_follows_and_a_bad_packet_stays_as_it_was() {
        let mut good = ip("1.0.0.1", "2.0.0.2").options(&[7, 7, 4, 0, 0, 0, 0]).marked();
        gateway().process(&mut good, Timestamp::ZERO).unwrap();
        assert_eq!(good.data(), ip("1.0.0.1", "2.0.0.2").options(&[7, 7, 8, 9, 9, 9, 9]).bytes());

        let sample = ip("1.0.0.1", "2.0.0.2").options(&[7, 7, 4, 0, 0, 0, 0, 148, 9]);
        let mut bad = sample.marked();
        assert_eq!(gateway().process(&mut bad, Timestamp::ZERO), Err(BadOption(28)));
        assert_eq!((bad.data(), bad.anno_u8(anno::ICMP_PARAMPROB.offset)), (&sample.bytes()[..], 28));
    }
}
