//! ARPFaker: sends unasked ARP replies.

use clickwork_packet::Packet;
use clickwork_packet::addr::{EtherAddress, Ipv4Address};
use clickwork_packet::headers::ethernet::{EthernetHeader, ethertype};
use clickwork_packet::headers::{ArpHeader, arp::operation};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Element};
use std::time::Duration;
use zerocopy::IntoBytes;

/// The class facts.
pub static CLASS: Class = Class {
    help: "sends unasked ARP replies",
    manual: "One second after the start, and every ten seconds from then on, sends an ARP reply to DSTETH that tells DSTIP \
             that SRCIP is at SRCETH.",
    example: "ARPFaker(10.0.0.1, 2:0:0:0:0:1, 10.0.0.2, 2:0:0:0:0:2) -> Discard",
    ports: "0/1",
    processing: "h/h",
    packets: "/new arp-reply",
    args: &[
        ArgSpec::required("DSTIP", ArgType::IpAddr, "who is told"),
        ArgSpec::required("DSTETH", ArgType::EtherAddr, "the Ethernet address of who is told"),
        ArgSpec::required("SRCIP", ArgType::IpAddr, "the IP address that is spoken of"),
        ArgSpec::required("SRCETH", ArgType::EtherAddr, "the Ethernet address claimed for it"),
    ],
    ..Class::new("ARPFaker", "ethernet", || Box::<ArpFaker>::default())
};

const FIRST: Duration = Duration::from_secs(1);
const INTERVAL: Duration = Duration::from_secs(10);

#[derive(Default)]
struct ArpFaker {
    told: (Ipv4Address, EtherAddress),
    claimed: (Ipv4Address, EtherAddress),
}

impl ArpFaker {
    fn reply(&self) -> Packet {
        let ether = EthernetHeader::new(self.told.1, self.claimed.1, ethertype::ARP);
        let (sender, target) = ((self.claimed.1, self.claimed.0), (self.told.1, self.told.0));
        let arp = ArpHeader::new(operation::REPLY, sender, target);
        let mut p = Packet::new(&[ether.as_bytes(), arp.as_bytes()].concat());
        p.set_mac_header(0, 14);
        p
    }
}

impl Element for ArpFaker {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("DSTIP", &mut self.told.0).read("DSTETH", &mut self.told.1);
        args.read("SRCIP", &mut self.claimed.0).read("SRCETH", &mut self.claimed.1);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        cx.schedule_timer_after(0, FIRST);
        Ok(())
    }

    fn run_timer(&mut self, slot: usize, cx: &mut Cx<'_>) {
        cx.emit(0, self.reply());
        cx.schedule_timer_after(slot, INTERVAL);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use std::time::Duration;

    #[test]
    fn replies_come_after_one_second_and_every_ten() {
        let mut t = Harness::new("ARPFaker(10.0.0.1, 1:1:1:1:1:1, 10.0.0.2, 2:2:2:2:2:2) -> k :: Sink");
        t.run_for(Duration::from_millis(11_500));
        let expected = b"\x01\x01\x01\x01\x01\x01\x02\x02\x02\x02\x02\x02\x08\x06\0\x01\x08\0\x06\x04\0\x02\
                         \x02\x02\x02\x02\x02\x02\x0a\0\0\x02\x01\x01\x01\x01\x01\x01\x0a\0\0\x01";
        assert_eq!(t.bytes("k"), [expected; 2]);
    }
}
