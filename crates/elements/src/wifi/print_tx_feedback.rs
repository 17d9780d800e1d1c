//! PrintTXFeedback: prints how frames were sent.

use super::extra::Extra;
use super::params::address_at;
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "prints how frames were sent",
    manual: "Passes every packet on and prints a line about it: LABEL, the timestamp, the address at OFFSET, and the flags, \
             the first two rates and tries, and the retries in the annotation WIFI_EXTRA.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> SetTXRate(22) -> PrintTXFeedback(sent) -> Discard",
    args: &[
        ArgSpec::positional("LABEL", ArgType::String, "", "printed first"),
        ArgSpec::keyword("OFFSET", ArgType::U32, "0", "where the address is"),
    ],
    ..Class::new("PrintTXFeedback", "wifi", || Box::<PrintTXFeedback>::default())
};

#[derive(Default)]
struct PrintTXFeedback {
    label: String,
    offset: u32,
}

impl SimpleElement for PrintTXFeedback {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("LABEL", &mut self.label).read("OFFSET", &mut self.offset);
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let label = if self.label.is_empty() { "PrintTXFeedback".into() } else { format!("{}:", self.label) };
        let (extra, address) = (Extra::of(p), address_at(p.data(), self.offset as usize).unwrap_or_default());
        let Extra { rate: [rate, alternate, ..], tries: [tries, alternate_tries, ..], retries, .. } = extra;
        cx.chatter(&format!(
            "{label} {} {address} flags {} rate {rate} max_retries {tries} alt_rate {alternate} \
             alt_retries {alternate_tries} retries {retries}",
            p.timestamp(),
            extra.flags.get().cast_signed(),
        ));
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Harness;
    use clickwork_packet::Timestamp;

    #[test]
    fn rates_and_tries_are_printed() {
        let mut t = Harness::new(
            "s :: Source -> SetTXRate(22, TRIES 3) -> PrintTXFeedback -> PrintTXFeedback(l, OFFSET 1) -> k :: Sink",
        );
        let mut p = Packet::new(&[0, 1, 2, 3, 4, 5]);
        p.set_timestamp(Timestamp::new(7, 0));
        Extra { rate: [0, 4, 5, 6], tries: [0, 7, 8, 9], retries: 1, ..Extra::ZERO }.annotate(&mut p);
        t.push("s", 0, [p]);
        let rest = "flags 0 rate 22 max_retries 3 alt_rate 4 alt_retries 7 retries 1\n";
        let expected =
            format!("PrintTXFeedback 7.000000 00-01-02-03-04-05 {rest}l: 7.000000 00-00-00-00-00-00 {rest}");
        assert_eq!((t.printed(), t.take("k").len()), (expected, 1));
    }
}
