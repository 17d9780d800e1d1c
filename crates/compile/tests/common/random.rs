//! Numbers that look random, and configurations made of them.

use std::fmt::Write;

/// Numbers that are the same for the same seed.
pub struct Random(u64);

impl Random {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..4).for_each(|_| _ = random.below(2));
        random
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % n.max(1)
    }

    /// One of some things.
    pub fn pick<'a, T: ?Sized>(&mut self, things: &[&'a T]) -> &'a T {
        things[self.below(things.len())]
    }

    /// Whether something happens that does once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// Elements for push paths: declaration and number of outputs.
const PUSHED: &[(&str, usize)] = &[
    ("Null", 1),
    ("Paint(1)", 1),
    ("Paint(2)", 1),
    ("PaintTee(1)", 2),
    ("PaintTee(2)", 2),
    ("CheckPaint(1)", 2),
    ("PaintSwitch", 2),
    ("Strip(1)", 1),
    ("Strip(14)", 1),
    ("CheckLength(60)", 2),
    ("CheckIPHeader", 2),
    ("CheckIPHeader(OFFSET 14)", 2),
    ("CheckIPHeader2", 1),
    ("MarkIPHeader", 1),
    ("MarkIPHeader(14)", 1),
    ("GetIPAddress(16)", 1),
    ("SetIPAddress(10.0.0.9)", 1),
    ("DropBroadcasts", 1),
    ("IPGWOptions(10.0.0.1)", 2),
    ("FixIPSrc(10.0.0.1)", 1),
    ("DecIPTTL", 2),
    ("DecIPTTL(MULTICAST false)", 1),
    ("IPFragmenter(60)", 2),
    ("Classifier(12/0800, 9/11, -)", 3),
    ("Classifier(12/0800, 0/45)", 2),
    ("IPClassifier(udp, dst host 10.0.0.2, -)", 3),
    ("IPFilter(1 udp && dst port 53, 0 ip proto icmp or tcp, deny all)", 2),
    ("StaticIPLookup(10.0.0.0/24 0, 10.0.0.2/32 10.0.0.7 1, 0.0.0.0/0 2)", 3),
    ("SetIPDSCP(3)", 1),
    ("StaticSwitch(1)", 2),
    ("Switch(0)", 2),
    ("SetPacketType(HOST)", 1),
    ("EtherEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2)", 1),
    ("HostEtherFilter(02:02:02:02:02:02)", 2),
    ("IPInputCombo(3)", 1),
    ("IPOutputCombo(2, 10.0.0.1, 60)", 5),
    ("StripIPHeader", 1),
    // Without fast paths, or with state.
    ("Counter", 1),
    ("Tee(2)", 2),
    ("RandomSample(0.5)", 1),
    ("ICMPError(10.0.0.1, timeexceeded)", 1),
    ("RoundRobinSwitch", 2),
    ("SetIPChecksum", 1),
    ("CheckUDPHeader", 2),
    ("CheckTCPHeader", 2),
];

/// Elements for pull paths: their further outputs push.
const PULLED: &[(&str, usize)] = &[
    ("Null", 1),
    ("Paint(3)", 1),
    ("PaintTee(3)", 2),
    ("Strip(2)", 1),
    ("CheckIPHeader", 2),
    ("CheckIPHeader(OFFSET 14)", 1),
    ("DecIPTTL", 2),
    ("DropBroadcasts", 1),
    ("IPGWOptions(10.0.0.1)", 1),
    ("CheckLength(40)", 1),
    ("Counter", 1),
    ("GetIPAddress(16)", 1),
    ("CheckPaint(1)", 2),
    ("HostEtherFilter(02:02:02:02:02:02)", 2),
];

/// A configuration whose element `in` takes packets. Paths divide, join and go back; the way back makes packets shorter, so that
/// nothing goes round for ever.
pub fn configuration(random: &mut Random) -> String {
    let mut text = String::from("in :: Null; Idle -> in;\n");
    let count = 3 + random.below(14);
    let kinds: Vec<_> = (0..count).map(|_| PUSHED[random.below(PUSHED.len())]).collect();
    for (n, (class, _)) in kinds.iter().enumerate() {
        let _ = writeln!(text, "e{n} :: {class};");
    }
    let mut ends = 0;
    let _ = writeln!(text, "in -> e0;");
    for (n, (_, outputs)) in kinds.iter().enumerate() {
        for output in 0..*outputs {
            let to = match random.below(8) {
                0..=4 if n + 1 < count => format!("e{}", n + 1 + random.below((count - n - 1).min(4))),
                5 => format!(
                    "Strip(25) -> shorter{n}_{output} :: CheckLength(20) -> Discard; shorter{n}_{output}[1] -> e{}",
                    random.below(count)
                ),
                6 => queue(random, &mut ends),
                _ => end(&mut ends),
            };
            let _ = writeln!(text, "e{n}[{output}] -> {to};");
        }
    }
    let entered: Vec<usize> = (1..count).filter(|n| !text.contains(&format!("-> e{n};"))).collect();
    for n in entered {
        let _ = writeln!(text, "in2_{n} :: Idle -> e{n};");
    }
    text
}

/// The end of a path, where packets show what they have become.
fn end(ends: &mut usize) -> String {
    *ends += 1;
    format!("Print(end{ends}, MAXLENGTH 40, PRINTANNO true) -> Discard")
}

/// A queue with a pull path behind it.
fn queue(random: &mut Random, ends: &mut usize) -> String {
    let mut text = String::from("Queue(20)");
    let mut more = String::new();
    for _ in 0..random.below(5) {
        let (class, outputs) = PULLED[random.below(PULLED.len())];
        *ends += 1;
        let name = format!("p{ends}");
        let _ = write!(text, " -> {name} :: {class}");
        for output in 1..outputs {
            let _ = write!(more, "; {name}[{output}] -> {}", end(ends));
        }
    }
    let _ = write!(text, " -> Unqueue -> {}{more}", end(ends));
    text
}

/// The same configuration with elements on the ways of packets that write handlers.
pub fn with_calls(random: &mut Random, text: &str) -> String {
    let mut parts = text.split(" -> ");
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let call = (0..4).find_map(|_| change(random, text)).filter(|_| random.once_in(2));
        out += &call
            .map_or(String::new(), |(handler, value)| format!(" -> {}", writer(random, &handler, &value)));
        out += " -> ";
        out += part;
    }
    out
}

fn writer(random: &mut Random, handler: &str, value: &str) -> String {
    match random.below(3) {
        0 => format!("Counter(COUNT_CALL {} {handler} {value})", 1 + random.below(9)),
        _ => format!("Script(TYPE PACKET, write {handler} {value}, return 0)"),
    }
}

/// A handler of the configuration that changes what an element does, with a value.
pub fn change(random: &mut Random, text: &str) -> Option<(String, String)> {
    let parts: Vec<&str> = text.split(" :: ").collect();
    let declared: Vec<(&str, &str)> =
        parts.windows(2).filter_map(|w| Some((w[0].split_whitespace().last()?, w[1]))).collect();
    let (name, class) = *declared.get(random.below(declared.len()))?;
    let class = class.split(['(', ' ', ';', '\n']).next().unwrap_or_default();
    let (handler, values): (&str, &[&str]) = match class {
        "DecIPTTL" => ("active", &["false", "true"]),
        "Paint" => ("color", &["1", "2", "3"]),
        "Switch" => ("switch", &["0", "1", "-1"]),
        "StaticIPLookup" => ("add", &["10.0.0.3/32 1", "10.0.0.4/32 10.0.0.9 0"]),
        "Strip" => ("config", &["2", "14"]),
        "CheckLength" => ("config", &["40", "100"]),
        "CheckPaint" => ("config", &["2"]),
        _ => return None,
    };
    Some((format!("{name}.{handler}"), random.pick(values).to_string()))
}
