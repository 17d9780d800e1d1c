//! The elements that are tried: one of the example of every class that has a fast path, and those of a table, each with
//! all numbers of outputs that it may have up to five.

use clickwork_elements::registry;
use clickwork_lang::{Options as LangOptions, elaborate};
use clickwork_packet::{Batch, Packet, Timestamp};
use clickwork_router::{Class, Clock, Cx, Element, ElementId, Log, Options, Registry, Router, build};
use clickwork_source::{Diagnostics, Sources, render_click};
use std::sync::{Arc, Mutex};

/// Arguments beyond those of the examples, by class.
const ARGUMENTS: &[(&str, &[&str])] = &[
    ("Align", &["8, 0", "4, 2", "2, 1"]),
    ("CheckARPHeader", &["", "14", "18, VERBOSE true", "4000000000"]),
    ("CheckICMPHeader", &[""]),
    ("CheckIP6Header", &["", ":: 2001:db8:100::1", ":: ::1, 14", ", 4000000000"]),
    (
        "CheckIPHeader",
        &["", "OFFSET 14", "14", "INTERFACES 10.0.0.1/24 18.26.4.1/24, GOODDST 10.0.0.1, VERBOSE true"],
    ),
    ("CheckIPHeader2", &["", "OFFSET 14", "BADSRC 1.0.0.1 10.0.0.255, CHECKSUM true"]),
    ("CheckLength", &["0", "60", "1500"]),
    ("CheckPaint", &["0", "1, 17"]),
    ("CheckTCPHeader", &[""]),
    ("CheckUDPHeader", &["VERBOSE true"]),
    ("DecIPTTL", &["MULTICAST false", "ACTIVE false"]),
    ("EnsureEther", &["", "0x86dd, 0:0:c:0:0:1, 2:0:0:0:0:9"]),
    ("EtherEncap", &["0x800, 0:0:c:0:0:1, 2:0:0:0:0:9"]),
    ("EtherRewrite", &["0:0:c:0:0:1, 2:0:0:0:0:9"]),
    (
        "EtherVLANEncap",
        &[
            "0x800, 0:0:c:0:0:1, 2:0:0:0:0:9, VLAN_ID 7",
            "0x800, 0:0:c:0:0:1, 2:0:0:0:0:9, ANNO, NATIVE_VLAN -1",
            "0x800, 0:0:c:0:0:1, 2:0:0:0:0:9, ANNO",
        ],
    ),
    ("GetEtherAddress", &["20, src", "42, 60", "0, 4000000000"]),
    ("GetIP6Address", &["0", "24", "38", "4000000000"]),
    ("GetIPAddress", &["0", "30", "16, 20", "IP src", "IP dst, ANNO 44", "2000000000"]),
    ("HashSwitch", &["0, 4", "26, 8", "100, 4000000000"]),
    (
        "HostEtherFilter",
        &[
            "0:0:c:0:0:1",
            "0:0:c:0:0:1, true, false",
            "2:0:0:0:0:9, true, OFFSET 4",
            "0:0:c:0:0:1, OFFSET 4000000000",
        ],
    ),
    ("IP6Fragmenter", &["0", "60", "1500", "60, FRAGMENT true"]),
    ("IPFragmenter", &["8", "28", "68, false", "1500"]),
    ("IPInputCombo", &["0", "200, INTERFACES 10.0.0.1/24, GOODDST 10.0.0.1", "1, BADSRC 1.0.0.1"]),
    ("IPMirror", &["false"]),
    ("IPOutputCombo", &["0, 10.0.0.1, 46", "2, 10.0.0.1, 1500"]),
    ("LinearIPLookup", ROUTES),
    (
        "LookupIP6Route",
        &[
            "::/0 0",
            "2001:db8::/32 fe80::9 0",
            "::/0 fe80::9 2, 2001:db8::/32 0, 2001:db8:100::/40 1, 2001:db8::1 fe80::8 0, ::/128 2, ffff::/16 1",
        ],
    ),
    ("MarkIPCE", &["", "true"]),
    ("MarkIP6Header", &["0", "14", "2000000000"]),
    ("MarkIPHeader", &["0", "14", "65535"]),
    ("MarkMACHeader", &["", "0, 14", "14, 20"]),
    ("Pad", &["", "60", "60, ZERO false", "2000", "65535"]),
    ("Paint", &["0", "255, 47", "3, ANNO 17"]),
    ("PaintSwitch", &["", "17"]),
    ("PaintTee", &["0", "2, 19"]),
    ("SetAnnoByte", &["0, 5", "47, 255"]),
    ("SetEtherAddress", &["0:0:c:0:0:1, 42"]),
    ("SetIP6Address", &["::", "2001:db8::9"]),
    ("SetIP6DSCP", &["0", "63"]),
    ("SetIPAddress", &["0.0.0.0", "18.26.4.9, ANNO 44"]),
    ("SetIPDSCP", &["0", "63"]),
    ("SetIPECN", &["0", "ce"]),
    ("SetPacketType", &["HOST", "OTHERHOST", "FASTROUTE"]),
    ("SetTCPChecksum", &["", "true"]),
    ("SetUDPChecksum", &[""]),
    ("SetVLANAnno", &["VLAN_ID 7, VLAN_PCP 3"]),
    ("StaticIPLookup", ROUTES),
    ("StaticSwitch", &["0", "2", "-1"]),
    ("StoreData", &["0, \\<>", "14, \\<45>", "60, \\<0102030405>", "4000000000, x"]),
    ("StoreEtherAddress", &["0:0:c:0:0:1, src", "OFFSET 50, ANNO 20", "0:0:c:0:0:1, 4000000000"]),
    (
        "StoreIPAddress",
        &[
            "12",
            "1.0.0.1, 16",
            "1.0.0.1, 60",
            "src",
            "dst",
            "1.0.0.1, src",
            "255.255.255.255, dst",
            "4000000000",
        ],
    ),
    ("Strip", &["0", "14", "4000000000"]),
    ("StripEtherVLANHeader", &["", "-1", "5"]),
    ("Switch", &["", "1", "-1"]),
    ("Truncate", &["0", "60", "60, EXTRA_LENGTH false"]),
    ("Unstrip", &["0", "4", "14", "65535"]),
    ("VLANDecap", &["", "false", "ETHERTYPE 0x800"]),
    ("VLANEncap", &["VLAN_ID 7", "ANNO", "ANNO, NATIVE_VLAN -1", "7, ETHERTYPE 0x88a8"]),
];

const ROUTES: &[&str] = &[
    "0/0 0",
    "10.0.0.0/8 18.26.4.9 0",
    "0/0 9.9.9.9 2, 10.0.0.0/8 0, 10.1.0.0/16 - 1, 10.0.0.1 8.8.8.8 0, 255.255.255.255 1, 0.0.0.0/32 2, 127/8 1",
    "10.0.0.0/255.0.0.255 0",
];

/// A router of one element that may be tried.
pub struct Subject {
    /// How a configuration writes the element, and its outputs.
    pub name: String,
    pub class: &'static Class,
    pub router: Router,
    pub element: ElementId,
    log: Log,
    collected: Arc<Collected>,
}

impl Subject {
    fn new(class: &'static Class, arguments: &str, outputs: usize) -> Result<Subject, String> {
        let name = format!("{}({arguments})", class.name);
        let mut config = format!("e :: {name}; k :: Collector; Idle -> e;");
        (0..outputs).for_each(|o| config += &format!(" e[{o}] -> [{o}]k;"));
        let log = Log::buffer();
        let router = router(&config, &log)?;
        let (element, collector) = (router.find("e").unwrap(), router.find("k").unwrap());
        let collected = router.exported::<Collected>(collector).unwrap();
        Ok(Subject { name: format!("{name}, {outputs} outputs"), class, router, element, log, collected })
    }

    /// An element with as few outputs as it may have.
    pub fn find(class: &str, arguments: &str) -> Subject {
        let class = registry().get(class).unwrap();
        (1..=5).find_map(|outputs| Subject::new(class, arguments, outputs).ok()).unwrap()
    }

    /// Runs the fast path.
    pub fn fast(&mut self, p: &mut Packet) -> Option<u16> {
        let fast = self.class.fast.unwrap();
        self.router.with_element(self.element, |e, _| fast.run(e, p)).unwrap()
    }

    /// The code of the fast path, if the element has one as it is configured.
    pub fn code(&mut self) -> Option<clickwork_router::FastCode> {
        let fast = self.class.fast.unwrap();
        self.router.with_element(self.element, |e, _| fast.code(e)).unwrap()
    }

    /// What left the element since the last call, with the output.
    pub fn collected(&self) -> Vec<(usize, Packet)> {
        std::mem::take(&mut *self.collected.0.lock().unwrap())
    }

    /// What handlers, drop counts and messages say.
    pub fn said(&mut self) -> String {
        let handlers = self.router.info(self.element).class.handlers;
        let read = handlers.iter().filter(|h| h.read.is_some() && !h.parameter);
        let values = read.map(|h| format!("{:?}", self.router.read_handler(self.element, h.name, "")));
        let values: Vec<String> = values.collect();
        format!("{values:?} {:?} {:?}", self.router.info(self.element).drops, self.log.taken())
    }
}

/// All subjects.
pub fn subjects() -> Vec<Subject> {
    let registry = registry();
    let classes = registry.iter().filter(|(name, c)| *name == c.name && c.fast.is_some()).map(|(_, c)| c);
    let mut all = Vec::new();
    for class in classes {
        all.extend(of_example(class));
        let listed = ARGUMENTS.iter().find(|(name, _)| *name == class.name);
        for arguments in listed.map_or(&[][..], |(_, list)| list) {
            let made: Vec<_> = (1..=5).map(|outputs| Subject::new(class, arguments, outputs)).collect();
            if let [Err(first), Err(_), Err(_), Err(_), Err(_)] = &made[..] {
                panic!("{}({arguments}):\n{first}", class.name);
            }
            all.extend(made.into_iter().flatten());
        }
    }
    all
}

/// The elements of the class in its example, alone.
fn of_example(class: &'static Class) -> Vec<Subject> {
    if class.example.is_empty() {
        return Vec::new();
    }
    let example = router(class.example, &Log::buffer()).unwrap();
    let infos = example.ids().map(|id| example.info(id)).filter(|info| info.class.name == class.name);
    infos.map(|info| Subject::new(class, &info.config, info.outputs.len()).unwrap()).collect()
}

fn router(config: &str, log: &Log) -> Result<Router, String> {
    let mut registry = registry();
    registry.add([&COLLECTOR]);
    let registry: Arc<Registry> = Arc::new(registry);
    let mut sources = Sources::default();
    let file = sources.add("config", config);
    let (graph, diagnostics) = elaborate(&mut sources, file, &LangOptions::new(&*registry));
    let render = |d: &Diagnostics| d.iter().map(|d| render_click(&sources, d)).collect::<String>();
    if diagnostics.has_errors() {
        return Err(render(&diagnostics));
    }
    let clock = Clock::simulated(Timestamp::new(1_000_000_000, 0));
    let options = Options { clock, log: log.clone(), seed: Some(1), ..Options::default() };
    build(&graph, &sources, &registry, options).map(|(router, _)| router).map_err(|d| render(&d))
}

#[derive(Default)]
struct Collected(Mutex<Vec<(usize, Packet)>>);

/// Keeps what it gets, and from where.
static COLLECTOR: Class = Class {
    ports: "-/0",
    processing: "h/h",
    ..Class::new("Collector", "testing", || Box::<Collector>::default())
};

#[derive(Default)]
struct Collector {
    collected: Arc<Collected>,
}

impl Element for Collector {
    fn configure(&mut self, _: &mut clickwork_router::args::Args, cx: &mut Cx<'_>) {
        cx.export(Arc::clone(&self.collected));
    }

    fn push(&mut self, port: usize, batch: &mut Batch, _: &mut Cx<'_>) {
        self.collected.0.lock().unwrap().extend(batch.drain().map(|p| (port, p)));
    }
}
