//! Management frames: what beacons, probes, authentications and associations carry (IEEE 802.11-2016 §9.3.3), read with
//! bounds and built.
//!
//! Not here: who answers whom; that is the business of the elements in `ap/` and `station/`.

use super::frame::{HEADER, WifiHeader, kind};
use super::params::{complain, say};
use clickwork_packet::addr::EtherAddress;
use clickwork_packet::{DEFAULT_HEADROOM, Packet};
use clickwork_router::Cx;
use std::fmt::Write;
use zerocopy::IntoBytes;

/// Identifiers of information elements (§9.4.2).
pub mod element {
    /// Name of the network.
    pub const SSID: u8 = 0;
    /// Up to eight rates.
    pub const RATES: u8 = 1;
    /// Channel.
    pub const CHANNEL: u8 = 3;
    /// Traffic indication map.
    pub const TIM: u8 = 5;
    /// Further rates.
    pub const MORE_RATES: u8 = 50;
    /// Those that beacons are known to have: hopping, channel, map, IBSS, ERP, rates, vendors' own, and two that Click
    /// knows by number only.
    pub const OF_BEACONS: [u8; 9] = [2, CHANNEL, TIM, 6, 42, MORE_RATES, 133, 150, 221];
}

/// Bits of the capability field (§9.4.1.4), with the names that Click prints.
pub const CAPABILITIES: [(u16, &str); 5] =
    [(0x01, "ESS"), (0x02, "IBSS"), (0x04, "CF_POLLABLE"), (0x08, "CF_POLLREQ"), (0x10, "PRIVACY")];
/// The capability of access points.
pub const ESS: u16 = 0x01;
/// The capability of those who encrypt.
pub const PRIVACY: u16 = 0x10;

/// The status code of success.
pub const SUCCESS: u16 = 0;
/// The authentication algorithm without a key.
pub const OPEN_SYSTEM: u16 = 0;

/// The bit that marks a rate which all stations of a network must know, and the bits of the rate.
pub const BASIC_RATE: u8 = 0x80;
const RATE_VALUE: u8 = 0x7F;
/// Rates in one element by the standard, and those that Click reads from one at most.
pub const RATES_AN_ELEMENT: usize = 8;
pub const MOST_RATES: usize = 15;
/// Longest name of a network.
pub const LONGEST_SSID: usize = 32;

/// A number of two bytes; 0 where the frame is cut short.
pub fn number(bytes: &[u8], at: usize) -> u16 {
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    u16::from_le_bytes([byte(at), byte(at + 1)])
}

/// The information elements that the elements here look at. Of several with one identifier the last counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Elements<'a> {
    ssid: Option<&'a [u8]>,
    rates: Option<&'a [u8]>,
    more_rates: Option<&'a [u8]>,
    channel: Option<&'a [u8]>,
}

impl<'a> Elements<'a> {
    /// Reads `body` from `offset` on; an element that is cut short ends at the end of the frame. Calls `other` with
    /// identifiers and lengths of those that are neither names nor rates.
    pub fn read(body: &'a [u8], offset: usize, mut other: impl FnMut(u8, u8)) -> Elements<'a> {
        let mut found = Elements::default();
        let mut rest = body.get(offset..).unwrap_or_default();
        while let [id, length, behind @ ..] = rest {
            let (content, next) = behind.split_at(usize::from(*length).min(behind.len()));
            match *id {
                element::SSID => found.ssid = Some(content),
                element::RATES => found.rates = Some(content),
                id => {
                    found.take_other(id, content);
                    other(id, *length);
                }
            }
            rest = next;
        }
        found
    }

    fn take_other(&mut self, id: u8, content: &'a [u8]) {
        match id {
            element::MORE_RATES => self.more_rates = Some(content),
            element::CHANNEL => self.channel = Some(content),
            _ => {}
        }
    }

    /// The name of the network; empty if there is none.
    pub fn ssid(&self) -> &'a [u8] {
        let ssid = self.ssid.unwrap_or_default();
        &ssid[..ssid.len().min(LONGEST_SSID)]
    }

    /// The channel.
    pub fn channel(&self) -> Option<u8> {
        self.channel.map(|content| content.first().copied().unwrap_or(0))
    }

    /// The rates of the first element, at most `most`, as they stand.
    pub fn rates(&self, most: usize) -> &'a [u8] {
        let rates = self.rates.unwrap_or_default();
        &rates[..rates.len().min(most)]
    }

    /// The rates of both elements, at most eight of each, as they stand.
    pub fn all_rates(&self) -> Vec<u8> {
        let more = self.more_rates.unwrap_or_default();
        [self.rates(RATES_AN_ELEMENT), &more[..more.len().min(RATES_AN_ELEMENT)]].concat()
    }
}

/// The rates that all must know and the others, without the mark.
pub fn sorted_rates(rates: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let (basic, other): (Vec<u8>, Vec<u8>) = rates.iter().partition(|rate| *rate & BASIC_RATE != 0);
    (basic.iter().map(|rate| rate & RATE_VALUE).collect(), other)
}

/// The rates without marks, for [`super::available_rates::Rates`].
pub fn plain_rates(rates: &[u8]) -> Vec<i32> {
    rates.iter().map(|rate| i32::from(rate & RATE_VALUE)).collect()
}

/// Numbers with spaces between.
pub fn list(numbers: &[u8]) -> String {
    numbers.iter().map(u8::to_string).collect::<Vec<_>>().join(" ")
}

/// `( { 2 4 } 11 22 )`, as most elements print rates.
pub fn rates_in_braces(rates: &[u8]) -> String {
    let spaced = |rates: Vec<u8>| rates.iter().map(|rate| format!("{rate} ")).collect::<String>();
    let (basic, other) = sorted_rates(rates);
    format!("( {{ {}}} {})", spaced(basic), spaced(other))
}

/// `[ ESS PRIVACY ] `, as most elements print capabilities.
pub fn capabilities_in_brackets(capability: u16) -> String {
    let mut text = String::from("[ ");
    for (_, name) in CAPABILITIES.iter().filter(|(bit, _)| capability & bit != 0) {
        // A String takes any text.
        let _ = write!(text, "{name} ");
    }
    text + "] "
}

/// Names of networks are bytes; they are printed like C strings.
pub fn text(ssid: &[u8]) -> String {
    clickwork_source::text::decode(ssid.split(|byte| *byte == 0).next().unwrap_or_default())
}

/// A management frame under construction.
pub struct Builder(Vec<u8>);

impl Builder {
    /// A frame of a subtype.
    pub fn new(subtype: u8, to: EtherAddress, from: EtherAddress, bssid: EtherAddress) -> Builder {
        let control = [kind::MANAGEMENT | subtype, 0];
        let header =
            WifiHeader { control, address1: to, address2: from, address3: bssid, ..WifiHeader::default() };
        Builder(header.as_bytes().to_vec())
    }

    /// Adds bytes.
    pub fn bytes(mut self, bytes: &[u8]) -> Builder {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Adds a number of two bytes.
    pub fn number(self, n: u16) -> Builder {
        self.bytes(&n.to_le_bytes())
    }

    /// Adds an information element; what does not fit into one is cut off.
    pub fn element(self, id: u8, content: &[u8]) -> Builder {
        let content = &content[..content.len().min(255)];
        self.bytes(&[id, content.len() as u8]).bytes(content)
    }

    /// Adds the element of the first rates; those that `is_basic` are marked.
    pub fn rates(self, rates: &[i32], is_basic: impl Fn(i32) -> bool) -> Builder {
        let first = &rates[..rates.len().min(RATES_AN_ELEMENT)];
        self.element(element::RATES, &marked(first, is_basic))
    }

    /// Adds the element of the rates beyond the eighth, if there are any.
    pub fn more_rates(self, rates: &[i32], is_basic: impl Fn(i32) -> bool) -> Builder {
        match rates.get(RATES_AN_ELEMENT..) {
            Some(more) if !more.is_empty() => self.element(element::MORE_RATES, &marked(more, is_basic)),
            _ => self,
        }
    }

    /// The frame.
    pub fn packet(self) -> Packet {
        Packet::with_room(DEFAULT_HEADROOM, &self.0, 0)
    }
}

/// Rates as they stand in frames.
pub fn marked(rates: &[i32], is_basic: impl Fn(i32) -> bool) -> Vec<u8> {
    rates.iter().map(|&rate| rate as u8 | if is_basic(rate) { BASIC_RATE } else { 0 }).collect()
}

/// Basic rates of access points: 1 Mbit/s.
pub fn is_basic(rate: i32) -> bool {
    rate == 2
}

/// Tells which elements of a frame are not looked at.
pub fn tell_ignored(id: u8, length: u8, cx: &Cx<'_>) {
    say(cx, format_args!("ignored element id {id} {length} "));
}

/// The header and body of a packet that must be a management frame; otherwise tells why not, as all elements that take
/// such frames do.
pub fn management_frame<'p>(p: &'p Packet, cx: &Cx<'_>) -> Result<(&'p WifiHeader, &'p [u8]), &'static str> {
    let Some(header) = WifiHeader::of(p) else {
        complain(cx, "packet too small", format_args!("packet too small: {} vs {HEADER}", p.len()));
        return Err("packet too small");
    };
    if header.kind() != kind::MANAGEMENT {
        complain(cx, "non-management packets", "received non-management packet");
        return Err("not a management frame");
    }
    Ok((header, &p.data()[HEADER..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_found_and_the_last_of_a_kind_counts() {
        let body = [0, 2, b'a', b'b', 1, 2, 0x82, 4, 3, 1, 6, 77, 0, 0, 1, b'c', 50, 1, 0x8C];
        let mut ignored = Vec::new();
        let e = Elements::read(&body, 0, |id, length| ignored.push((id, length)));
        assert_eq!((e.ssid(), e.channel(), e.all_rates()), (&b"c"[..], Some(6), vec![0x82, 4, 0x8C]));
        assert_eq!(ignored, [(3, 1), (77, 0), (50, 1)]);
        assert_eq!(rates_in_braces(&e.all_rates()), "( { 2 12 } 4 )");
    }

    #[test]
    fn elements_cut_short_end_with_the_frame() {
        let body = [1, 200, 2, 4];
        for length in 0..=body.len() {
            let e = Elements::read(&body[..length], 0, |_, _| {});
            assert_eq!(e.all_rates(), body[length.min(2)..length], "{length}");
        }
        let e = Elements::read(&[3, 0, 0, 255, 1], 0, |_, _| {});
        assert_eq!((e.channel(), e.ssid()), (Some(0), &[1][..]));
        assert_eq!(Elements::read(&body, 9, |_, _| {}).ssid(), b"");
        assert_eq!(
            Elements::read(&[&[0, 40][..], &[b'x'; 40]].concat(), 0, |_, _| {}).ssid().len(),
            LONGEST_SSID
        );
    }
}
