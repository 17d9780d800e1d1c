//! SetTXPower: says with which power a packet is to be sent.

use super::extra::{Extra, MAGIC};
use super::params::parameter;
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "says with which power packets are to be sent",
    manual: "Sets the power in the annotation WIFI_EXTRA of each packet, in the unit of the hardware.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> SetTXPower(63) -> Discard",
    args: &[ArgSpec::positional("POWER", ArgType::U32, "0", "power in the unit of the hardware")],
    handlers: &[parameter!(
        SetTXPower,
        "power",
        power,
        "power in the unit of the hardware",
        "power parameter must be unsigned"
    )],
    ..Class::new("SetTXPower", "wifi", || Box::<SetTXPower>::default())
};

#[derive(Default)]
struct SetTXPower {
    power: u32,
}

impl SimpleElement for SetTXPower {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("POWER", &mut self.power);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        Extra::change(p, |extra| {
            extra.magic = MAGIC.into();
            extra.power = self.power as u8;
        });
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Harness;

    #[test]
    fn the_power_is_set_and_the_rest_stays() {
        let mut t = Harness::new("s :: Source -> SetTXRate(22) -> SetTXPower(63) -> k :: Sink");
        t.push("s", 0, [Packet::new(b"x")]);
        let extra = Extra::of(&t.take("k")[0]);
        assert_eq!((extra.power, extra.rate[0], extra.is_valid()), (63, 22, true));
    }
}
