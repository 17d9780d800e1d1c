//! PrintWifi: prints what 802.11 frames are.

use super::extra::{self, Extra};
use super::frame::{HEADER, WifiHeader, direction, flag, kind, subtype};
use super::management::{
    CAPABILITIES, Elements, LONGEST_SSID, MOST_RATES, capabilities_in_brackets, element, list, number,
    sorted_rates, text,
};
use clickwork_packet::Packet;
use clickwork_packet::headers::Header;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "prints what 802.11 frames are",
    manual: "Passes every packet on and prints a line about it: LABEL, the timestamp if TIMESTAMP is true, length, rate, \
             signal and noise from the annotation WIFI_EXTRA, the kind of frame with what is most important in it, addresses, \
             sequence number and flags.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> WifiEncap(0) -> PrintWifi(frame) -> Discard",
    args: &[
        ArgSpec::positional("LABEL", ArgType::String, "", "printed first, with a colon"),
        ArgSpec::keyword("TIMESTAMP", ArgType::Bool, "false", "whether the timestamp is printed"),
    ],
    ..Class::new("PrintWifi", "wifi", || Box::<PrintWifi>::default())
};

#[derive(Default)]
struct PrintWifi {
    label: String,
    timestamp: bool,
}

/// The header, with zeros where the frame is cut short.
fn padded_header(data: &[u8]) -> WifiHeader {
    let mut bytes = [0; HEADER];
    let length = data.len().min(HEADER);
    bytes[..length].copy_from_slice(&data[..length]);
    WifiHeader::peek(&bytes).copied().unwrap_or_default()
}

impl PrintWifi {
    fn line(&self, p: &Packet) -> String {
        let (header, extra) = (padded_header(p.data()), Extra::of(p));
        let mut line = self.heading(p, &extra);
        let body = p.data().get(HEADER..).unwrap_or_default();
        line += &what(&header, body);
        // Click looks at the subtype alone here, also of data frames.
        if !matches!(header.subtype(), subtype::BEACON | subtype::PROBE_RESPONSE) {
            line += &addresses(&header, p.len());
            line += &flags(&header, &extra);
        }
        text(line.as_bytes())
    }

    fn heading(&self, p: &Packet, extra: &Extra) -> String {
        let label = if self.label.is_empty() { String::new() } else { format!("{}: ", self.label) };
        let timestamp = if self.timestamp { format!("{}: ", p.timestamp()) } else { String::new() };
        let rate = match extra.rate[0] {
            11 => " 5.5".to_string(),
            rate => format!("{:2}", rate / 2),
        };
        format!("{label}{timestamp}{:4} | {rate}Mb +{:2}/{:2} | ", p.len(), extra.rssi, extra.silence)
    }
}

/// The kind of frame, and of management frames what is in them.
fn what(header: &WifiHeader, body: &[u8]) -> String {
    match header.kind() {
        kind::MANAGEMENT => format!("mgmt {}", management(header, body)),
        kind::CONTROL => format!("cntl {}", control(header)),
        kind::DATA => {
            let way = match header.direction() {
                direction::NONE => "nods",
                direction::TO_AP => "tods",
                direction::FROM_AP => "frds",
                _ => "dsds",
            };
            format!("data {way} ")
        }
        other => format!("unknown-type-{other} "),
    }
}

fn control(header: &WifiHeader) -> String {
    match header.subtype() {
        0xA0 => "psp  ".into(),
        0xB0 => "rts  ".into(),
        0xC0 => "cts  ".into(),
        0xD0 => format!("ack  {} ", header.duration),
        0xE0 => "cfe  ".into(),
        0xF0 => "cfea ".into(),
        other => format!("unknown-subtype-{other} "),
    }
}

fn management(header: &WifiHeader, body: &[u8]) -> String {
    match header.subtype() {
        subtype::ASSOCIATION_REQUEST => association_request(body),
        subtype::ASSOCIATION_RESPONSE => {
            let (capability, code, id) = (number(body, 0), number(body, 2), number(body, 4));
            let (capability, meaning) = (short_capabilities(capability), status(code));
            format!("assoc_resp {capability} status {code} {meaning} associd {id} ")
        }
        0x20 => "reassoc_req ".into(),
        0x30 => "reassoc_resp ".into(),
        subtype::PROBE_REQUEST => {
            let (ssid, behind) = first_ssid(body);
            format!("probe_req ssid {ssid} {} ", short_rates(behind))
        }
        subtype::PROBE_RESPONSE => format!("probe_resp {}", beacon(header, body)),
        subtype::BEACON => format!("beacon {}", beacon(header, body)),
        0x90 => "atim ".into(),
        subtype::DISASSOCIATION => format!("disassoc {} ", reason(number(body, 0))),
        subtype::AUTHENTICATION => {
            let (algorithm, step, code) = (number(body, 0), number(body, 2), number(body, 4));
            format!("auth alg {algorithm} auth_seq {step} status {} ", status(code))
        }
        0xC0 => "deauth ".into(),
        other => format!("unknown-subtype-{other} "),
    }
}

fn association_request(body: &[u8]) -> String {
    let (capability, interval) = (short_capabilities(number(body, 0)), number(body, 2));
    let (ssid, behind) = first_ssid(body.get(4..).unwrap_or_default());
    format!("assoc_req listen_int {interval} {capability} ssid {ssid} rates {} ", short_rates(behind))
}

/// The name in the first element, and what stands behind that element.
fn first_ssid(body: &[u8]) -> (String, &[u8]) {
    let [id, length, content @ ..] = body else { return (String::new(), &[]) };
    let length = usize::from(*length).min(content.len());
    let name = match *id {
        element::SSID => clickwork_source::text::decode(&content[..length.min(LONGEST_SSID)]),
        _ => "(invalid ssid)".into(),
    };
    (name, &content[length..])
}

/// The rates in the first element, `({2} 4 11)`.
fn short_rates(body: &[u8]) -> String {
    let [_, length, content @ ..] = body else { return "({} )".into() };
    let rates = &content[..usize::from(*length).min(content.len()).min(MOST_RATES)];
    let (basic, other) = sorted_rates(rates);
    format!("({{{}}} {})", list(&basic), list(&other))
}

/// `[ESS PRIVACY]`.
fn short_capabilities(capability: u16) -> String {
    let names: Vec<_> =
        CAPABILITIES.iter().filter(|(bit, _)| capability & bit != 0).map(|(_, name)| *name).collect();
    format!("[{}]", names.join(" "))
}

fn beacon(header: &WifiHeader, body: &[u8]) -> String {
    let elements = Elements::read(body, 12, |_, _| {});
    let name = match elements.ssid() {
        [] => "(none)".to_string(),
        ssid => clickwork_source::text::decode(ssid),
    };
    let (interval, capability) = (number(body, 8), capabilities_in_brackets(number(body, 10)));
    let (basic, other) = sorted_rates(&elements.all_rates());
    let (basic, other, channel) = (list(&basic), list(&other), elements.channel().unwrap_or(0));
    format!("{} {name} chan {channel} b_int {interval} {capability}({{{basic}}} {other})", header.address3)
}

/// Status codes (§9.4.1.9) as Click names them.
fn status(code: u16) -> String {
    match code {
        0 => "success".into(),
        1 => "unspecified".into(),
        10 => "capinfo".into(),
        11 => "not_assoced".into(),
        12 => "other".into(),
        13 => "alg".into(),
        14 => "seq".into(),
        15 => "challenge".into(),
        16 => "timeout".into(),
        18 => "basic_rates".into(),
        22 => "too_many_stations".into(),
        23 => "rates".into(),
        25 => "shortslot_required".into(),
        other => format!("unknown status {other}"),
    }
}

/// Reason codes (§9.4.1.7) as Click names them.
fn reason(code: u16) -> String {
    match code {
        1 => "unspecified".into(),
        2 => "auth_expire".into(),
        3 => "auth_leave".into(),
        4 => "assoc_expire/inactive".into(),
        5 => "assoc_toomany".into(),
        6 => "not_authed".into(),
        7 => "not_assoced".into(),
        8 => "assoc_leave".into(),
        9 => "assoc_not_authed".into(),
        other => format!("unknown reason {other}"),
    }
}

fn addresses(header: &WifiHeader, length: usize) -> String {
    let mut text = header.address1.to_string();
    if length >= 16 {
        text += &format!(" {}", header.address2);
    }
    if length > 22 {
        text += &format!(" {}", header.address3);
    }
    text += " ";
    if length >= HEADER {
        text += &format!("seq {}", header.sequence_number());
        if header.fragment() != 0 || header.has(flag::MORE_FRAGMENTS) {
            text += &format!(" frag {}", header.fragment());
        }
        text += " ";
    }
    text
}

fn flags(header: &WifiHeader, extra: &Extra) -> String {
    let names = [
        (extra.has(extra::flag::TX), " tx"),
        (extra.has(extra::flag::TX_FAIL), " fail"),
        (extra.has(extra::flag::TX_USED_ALT_RATE), " alt_rate"),
        (extra.has(extra::flag::RX_ERR), " err"),
        (extra.has(extra::flag::RX_MORE), " more"),
        (header.has(flag::RETRY), " retry"),
        (header.has(flag::PROTECTED), " wep"),
    ];
    let set: String = names.iter().filter(|(is_set, _)| *is_set).map(|(_, name)| *name).collect();
    let retries = match extra.has(extra::flag::TX) {
        true => format!(" retries {}", extra.retries),
        false => String::new(),
    };
    format!("[{set} ] {retries}")
}

impl SimpleElement for PrintWifi {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("LABEL", &mut self.label).read("TIMESTAMP", &mut self.timestamp);
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        cx.chatter(&self.line(p));
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use crate::testing::Harness;
    use clickwork_packet::Timestamp;

    fn printed(args: &str, name: &str) -> String {
        let mut t = Harness::new(&format!("s :: Source -> PrintWifi({args}) -> k :: Sink"));
        let mut p = Packet::new(&samples::frame(name));
        p.set_timestamp(Timestamp::new(5, 250_000_000));
        t.push("s", 0, [p]);
        assert_eq!(t.take("k").len(), 1);
        t.printed()
    }

    #[test]
    fn data_and_control_frames() {
        let tods =
            "35 |  0Mb + 0/ 0 | data tods 02-00-00-00-00-03 02-00-00-00-00-02 02-00-00-00-00-01 seq 0 [ ] \n";
        assert_eq!(printed("", "data tods"), format!("  {tods}"));
        assert_eq!(printed("l, TIMESTAMP true", "data tods"), format!("l: 5.250000:   {tods}"));
        assert!(printed("", "data retry").ends_with("02-00-00-00-00-02 seq 5 frag 2 [ retry ] \n"));
        assert_eq!(printed("", "ack"), "  10 |  0Mb + 0/ 0 | cntl ack  258 02-00-00-00-00-01 [ ] \n");
        assert!(printed("", "wep 40").contains("[ wep ]"));
        assert!(printed("", "data qos").ends_with("| data tods \n"));
    }

    #[test]
    fn management_frames() {
        for (name, expected) in [
            (
                "beacon",
                "beacon 02-00-00-00-00-03 home chan 3 b_int 100 [ ESS ] ({2} 4 11 12 18 22 24 36 48 72 96 108)\n",
            ),
            (
                "beacon privacy",
                "beacon 02-00-00-00-00-03 (none) chan 11 b_int 200 [ ESS PRIVACY ] ({2} 4 11 22)\n",
            ),
            (
                "probe response",
                "probe_resp 02-00-00-00-00-03 home chan 3 b_int 100 [ ESS ] ({2} 4 11 12 18 22 24 36 48 72 96 108)\n",
            ),
            (
                "probe request",
                "probe_req ssid home ({2} 4 11 22) FF-FF-FF-FF-FF-FF 02-00-00-00-00-02 FF-FF-FF-FF-FF-FF seq 0 [ ] \n",
            ),
            (
                "association request",
                "assoc_req listen_int 100 [ESS] ssid home rates ({2} 4 11 22) 02-00-00-00-00-03 02-00-00-00-00-02 02-00-00-00-00-03 seq 0 [ ] \n",
            ),
            (
                "association response",
                "assoc_resp [ESS] status 0 success associd 49152 02-00-00-00-00-02 02-00-00-00-00-03 02-00-00-00-00-03 seq 0 [ ] \n",
            ),
            (
                "authentication request",
                "auth alg 0 auth_seq 1 status success 02-00-00-00-00-03 02-00-00-00-00-02 02-00-00-00-00-03 seq 0 [ ] \n",
            ),
            (
                "disassociation",
                "disassoc assoc_leave 02-00-00-00-00-02 02-00-00-00-00-03 02-00-00-00-00-03 seq 0 [ ] \n",
            ),
        ] {
            let got = printed("", name);
            assert_eq!(got.split_once("mgmt ").expect("a management frame").1, expected, "{name}");
        }
    }

    #[test]
    fn what_hardware_said_is_printed() {
        let mut t = Harness::new("s :: Source -> PrintWifi -> k :: Sink");
        let mut p = Packet::new(&samples::frame("data nods"));
        let mut extra =
            Extra { rssi: 40, silence: 7, rate: [11, 0, 0, 0], tries: [9; 4], retries: 3, ..Extra::ZERO };
        extra.flags = 0x1F.into();
        extra.annotate(&mut p);
        t.push("s", 0, [p]);
        let line = t.printed();
        assert!(line.starts_with("  35 |  5.5Mb +40/ 7 | data nods "), "{line}");
        assert!(line.ends_with("[ tx fail alt_rate err more ]  retries 3\n"), "{line}");
    }

    #[test]
    fn frames_cut_short_are_printed_as_far_as_they_go() {
        for name in
            ["beacon", "association request", "association response", "probe request", "disassociation"]
        {
            let frame = samples::frame(name);
            let mut t = Harness::new("s :: Source -> PrintWifi -> k :: Sink");
            t.push("s", 0, (0..frame.len()).map(|length| Packet::new(&frame[..length])));
            assert_eq!(t.printed().lines().count(), frame.len(), "{name}");
        }
    }
}
