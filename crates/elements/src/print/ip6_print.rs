//! IP6Print: shows IPv6 headers.

use super::dump::{first, hex};
use clickwork_packet::Packet;
use clickwork_packet::headers::{Header, Ipv6Header};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "prints IPv6 headers",
    manual: "Passes every packet on and prints a line about it: LABEL, addresses, payload length, next header and hop \
             limit. CONTENTS adds the packet's bytes. The IPv6 header must be marked; packets without the mark pass in \
             silence.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> IP6Print(x, CONTENTS true) -> Discard",
    packets: "should ip6/same",
    args: &[
        ArgSpec::positional("LABEL", ArgType::String, "", "printed first, with a colon"),
        ArgSpec::keyword("CONTENTS", ArgType::Bool, "false", "whether the packet's bytes are shown"),
        ArgSpec::keyword("NBYTES", ArgType::U32, "1500", "bytes that are shown"),
    ],
    ..Class::new("IP6Print", "print", || Box::<Ip6Print>::default())
};

#[derive(Default)]
struct Ip6Print {
    label: String,
    contents: bool,
    limit: i32,
}

impl Ip6Print {
    fn text(&self, p: &Packet, network: &[u8]) -> String {
        let mut text = self.label.clone();
        text.push_str(if text.is_empty() { "" } else { ": " });
        match Ipv6Header::peek(network) {
            Some(ip) => text.push_str(&format!(
                "{} -> {} plen {}, next {}, hlim {}",
                ip.source(),
                ip.destination(),
                ip.payload_len_field(),
                ip.next_header,
                ip.hop_limit
            )),
            None => text.push_str("truncated-ip6"),
        }
        if self.contents {
            rows(&mut text, first(p.data(), self.limit));
        }
        text
    }
}

/// Bytes in rows of 24, with a space behind each four, as Click has them here and nowhere else.
fn rows(out: &mut String, bytes: &[u8]) {
    out.push_str("\n  ");
    for (i, &byte) in bytes.iter().enumerate() {
        hex(out, byte);
        out.push_str(match i % 24 {
            23 => "\n  ",
            n if n % 4 == 3 => " ",
            _ => "",
        });
    }
}

impl SimpleElement for Ip6Print {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let mut limit = 1500u32;
        args.read("LABEL", &mut self.label).read("CONTENTS", &mut self.contents).read("NBYTES", &mut limit);
        self.limit = i32::try_from(limit).unwrap_or(i32::MAX);
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if p.has_network_header() {
            cx.chatter(&self.text(p, p.network_bytes().unwrap_or_default()));
        }
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn the_header_and_perhaps_the_bytes_are_shown() {
        let mut header = [0; 40];
        header[4..8].copy_from_slice(&[1, 0, 17, 64]);
        (header[8], header[23], header[24], header[39]) = (0x3f, 1, 0x3f, 2);
        let mut p = Packet::new(&header);
        p.set_network_header(0, 40);
        let mut short = Packet::new(b"\x60");
        short.set_network_header(0, 40);
        let mut t = Harness::new("s :: Source -> IP6Print(x, CONTENTS true, NBYTES 6) -> Discard");
        t.push("s", 0, [p, short, Packet::new(&header)]);
        assert_eq!(
            t.printed(),
            "x: 3f00::1 -> 3f00::2 plen 256, next 17, hlim 64\n  00000000 0100\nx: truncated-ip6\n  60\n"
        );
    }

    #[test]
    fn rows_end_as_clicks_do() {
        let mut t = Harness::new("s :: Source -> IP6Print(CONTENTS true, NBYTES 32) -> Discard");
        let mut p = Packet::new(&[0; 40]);
        p.set_network_header(0, 40);
        t.push("s", 0, [p]);
        let row = ["00000000"; 6].join(" ");
        let header = ":: -> :: plen 0, next 0, hlim 0";
        assert_eq!(t.printed(), format!("{header}\n  {row}\n  00000000 00000000 \n"));
    }
}
