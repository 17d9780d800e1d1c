//! SetTXRate: says at which rate a packet is to be sent.

use super::extra::{Extra, MAGIC, MAX_RETRIES};
use super::params::parameter;
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "says at which rate packets are to be sent",
    manual: "Sets the rate and the number of tries in the annotation WIFI_EXTRA, of all packets or of those Ethernet frames \
             that have type ETHTYPE. RATE is in units of 500 kbit/s; 0 stands for 1 Mbit/s.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> SetTXRate(22, TRIES 4) -> Discard",
    args: &[
        ArgSpec::positional("RATE", ArgType::I32, "0", "rate in units of 500 kbit/s"),
        ArgSpec::keyword("TRIES", ArgType::I32, "12", "how often to try"),
        ArgSpec::keyword("ETHTYPE", ArgType::U16, "0", "only frames of this type; 0: all packets"),
        ArgSpec::keyword("OFFSET", ArgType::U32, "0", "where the Ethernet header begins"),
    ],
    handlers: &[
        parameter!(SetTXRate, "rate", rate, "rate in units of 500 kbit/s", "rate parameter must be unsigned"),
        parameter!(SetTXRate, "tries", tries, "how often to try", "tries parameter must be unsigned"),
    ],
    ..Class::new("SetTXRate", "wifi", || Box::<SetTXRate>::default())
};

struct SetTXRate {
    rate: u32,
    tries: u32,
    ethertype: u16,
    offset: usize,
}

impl Default for SetTXRate {
    fn default() -> SetTXRate {
        SetTXRate { rate: 0, tries: u32::from(MAX_RETRIES) + 1, ethertype: 0, offset: 0 }
    }
}

impl SetTXRate {
    fn is_meant(&self, p: &Packet) -> bool {
        let at = self.offset.saturating_add(12);
        self.ethertype == 0
            || p.data().get(at..).is_some_and(|rest| rest.starts_with(&self.ethertype.to_be_bytes()))
    }
}

impl SimpleElement for SetTXRate {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let rate = args.get::<i32>("RATE").unwrap_or(0);
        let tries = args.get::<i32>("TRIES").unwrap_or(i32::from(MAX_RETRIES) + 1);
        args.read("ETHTYPE", &mut self.ethertype);
        self.offset = args.get::<u32>("OFFSET").unwrap_or(0) as usize;
        if rate < 0 {
            return args.error("RATE must be >= 0");
        }
        if tries < 1 {
            return args.error("TRIES must be >= 0");
        }
        (self.rate, self.tries) = (rate.cast_unsigned(), tries.cast_unsigned());
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if self.is_meant(p) {
            Extra::change(p, |extra| {
                extra.magic = MAGIC.into();
                extra.rate[0] = if self.rate == 0 { 2 } else { self.rate as u8 };
                extra.tries[0] = self.tries as u8;
            });
        }
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Harness;

    fn after(config: &str, frame: &[u8]) -> (u8, u8, bool) {
        let mut t = Harness::new(&format!("s :: Source -> {config} -> k :: Sink"));
        t.push("s", 0, [Packet::new(frame)]);
        let extra = Extra::of(&t.take("k")[0]);
        (extra.rate[0], extra.tries[0], extra.is_valid())
    }

    #[test]
    fn rate_and_tries_are_set_in_frames_of_the_type() {
        let arp = [[0; 6], [0; 6]].concat().into_iter().chain([8, 6]).collect::<Vec<u8>>();
        assert_eq!(after("SetTXRate(22)", &arp), (22, 12, true));
        assert_eq!(after("SetTXRate(TRIES 3)", &arp), (2, 3, true));
        assert_eq!(after("SetTXRate(11, ETHTYPE 0x0806)", &arp), (11, 12, true));
        assert_eq!(after("SetTXRate(11, ETHTYPE 0x0800)", &arp), (0, 0, false));
        assert_eq!(
            after("SetTXRate(11, ETHTYPE 0x0806, OFFSET 2)", &[&[0, 0], &arp[..]].concat()),
            (11, 12, true)
        );
        assert_eq!(after("SetTXRate(11, ETHTYPE 0x0806, OFFSET 4294967295)", &arp), (0, 0, false));
        assert_eq!(after("SetTXPower(63)", &arp), (0, 0, true));
    }

    #[test]
    fn limits_and_handlers() {
        assert!(Harness::errors("Idle -> SetTXRate(-1) -> Discard").contains("RATE must be >= 0"));
        assert!(Harness::errors("Idle -> SetTXRate(2, TRIES 0) -> Discard").contains("TRIES must be >= 0"));
        let mut t = Harness::new("Idle -> r :: SetTXRate(2) -> p :: SetTXPower -> Discard");
        t.write("r.rate 4").unwrap();
        t.write("r.tries 7").unwrap();
        t.write("p.power 60").unwrap();
        assert_eq!(
            (t.read("r.rate"), t.read("r.tries"), t.read("p.power")),
            ("4\n".into(), "7\n".into(), "60\n".into())
        );
        assert_eq!(t.write("r.rate -1").unwrap_err(), "rate parameter must be unsigned");
        assert_eq!(t.write("p.power x").unwrap_err(), "power parameter must be unsigned");
    }
}
