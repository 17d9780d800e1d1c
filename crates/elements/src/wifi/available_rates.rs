//! AvailableRates: which rates stations can send and receive at.

use super::params::{debug_handler, set};
use super::station_map::StationMap;
use clickwork_packet::addr::EtherAddress;
use clickwork_router::args::{ArgSpec, ArgType, Args, FromArg, Names, words};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, read_handler, write_handler};
use std::sync::{Arc, Mutex, MutexGuard};

/// The class facts.
pub static CLASS: Class = Class {
    help: "holds the rates that stations can use",
    manual: "Each argument is an Ethernet address and the rates of that station, in units of 500 kbit/s; with DEFAULT in \
             place of the address, the rates of all others. Elements that name this one in RT look rates up and add what \
             they learn from frames; of those rates only the ones among the default rates are kept. The table holds 16384 \
             stations; then the one that was learned first gives way.",
    example: "rates :: AvailableRates(DEFAULT 2 4 11 22, 2:0:0:0:0:1 2 4); DriverManager(print rates.rates, stop)",
    ports: "0/0",
    args: &[ArgSpec::rest(
        "RATES",
        ArgType::Other("ADDRESS RATE..."),
        "a station, or DEFAULT, and its rates",
    )],
    handlers: &[
        debug_handler!(AvailableRates),
        read_handler!("rates", "stations and their rates", |e: &mut AvailableRates, _| e.table().print()),
        write_handler!(
            "insert",
            "sets the rates of a station: ADDRESS RATE...",
            |e: &mut AvailableRates, text, cx| e.table().parse(text, &cx.names())
        ),
        write_handler!("remove", "forgets a station", |e: &mut AvailableRates, text, cx| {
            let mut station = EtherAddress::default();
            set(&mut station, text, cx, "remove parameter must be ethernet address")?;
            e.table().stations.remove(station);
            Ok::<(), String>(())
        }),
    ],
    ..Class::new("AvailableRates", "wifi", || Box::<AvailableRates>::default())
};

/// Rates of stations.
#[derive(Clone, Debug, Default)]
struct Table {
    stations: StationMap<EtherAddress, Vec<i32>>,
    default: Vec<i32>,
}

impl Table {
    /// Takes over `ADDRESS RATE...`. A rate that is no number counts as 0.
    fn parse(&mut self, text: &str, names: &Names) -> Result<(), String> {
        let words: Vec<String> = words(text).into_iter().map(|word| word.text).collect();
        let [station, rates @ ..] = words.as_slice() else {
            return Err(format!("error param {text} must have > 1 arg"));
        };
        if rates.is_empty() {
            return Err(format!("error param {text} must have > 1 arg"));
        }
        let rates = rates.iter().map(|rate| i32::from_arg(rate, names).unwrap_or(0)).collect();
        if station == "DEFAULT" {
            self.default = rates;
            return Ok(());
        }
        let address = EtherAddress::from_arg(station, names);
        let address = address.map_err(|_| format!("error param {text}: must start with ethernet address"))?;
        self.stations.insert(address, rates);
        Ok(())
    }

    fn print(&self) -> String {
        let list = |rates: &[i32]| rates.iter().map(|rate| format!(" {rate}")).collect::<String>();
        let default = match self.default.as_slice() {
            [] => String::new(),
            rates => format!("DEFAULT {}\n", list(rates)),
        };
        let stations = self.stations.iter().map(|(address, rates)| format!("{address} {}\n", list(rates)));
        default + &stations.collect::<String>()
    }
}

/// The rates, shared.
#[derive(Debug, Default)]
pub struct Rates {
    table: Mutex<Table>,
    /// The element's name, for messages.
    name: Mutex<String>,
}

impl Rates {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The rates of a station; the default ones if nothing is known about it.
    pub fn lookup(&self, station: EtherAddress, cx: &Cx<'_>) -> Vec<i32> {
        if station.is_zero() {
            let name = self.name.lock().unwrap_or_else(|e| e.into_inner());
            cx.report("lookup called with NULL eth!", || format!("{name}: lookup called with NULL eth!"));
            return Vec::new();
        }
        let table = self.lock();
        table.stations.get(station).unwrap_or(&table.default).clone()
    }

    /// Learns the rates of a station.
    pub fn learn(&self, station: EtherAddress, rates: &[i32]) {
        if station.is_zero() {
            return;
        }
        let mut table = self.lock();
        let known = |rate: &&i32| table.default.is_empty() || table.default.contains(rate);
        let rates = rates.iter().filter(known).copied().collect();
        table.stations.insert(station, rates);
    }
}

#[derive(Default)]
struct AvailableRates {
    rates: Arc<Rates>,
    debug: bool,
}

impl AvailableRates {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.rates.lock()
    }
}

impl Element for AvailableRates {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        for (index, text) in args.rest().to_vec().into_iter().enumerate() {
            let outcome = self.table().parse(&text, args.names());
            if let Err(e) = outcome {
                return args.error_in_rest(index, e);
            }
        }
        *self.rates.name.lock().unwrap_or_else(|e| e.into_inner()) = cx.name().to_string();
        cx.export(Arc::clone(&self.rates));
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<AvailableRates>(old) {
            self.table().stations = old.table().stations.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;

    #[test]
    fn lists_inserts_and_removes() {
        let mut t =
            Harness::new("r :: AvailableRates(2:0:0:0:0:2 2 4, DEFAULT 2 4 11 22, 2:0:0:0:0:1 12 18)");
        let both = "DEFAULT  2 4 11 22\n02-00-00-00-00-01  12 18\n02-00-00-00-00-02  2 4\n";
        assert_eq!(t.read("r.rates"), both);
        t.write("r.insert 2:0:0:0:0:1 108").unwrap();
        t.write("r.insert DEFAULT 2").unwrap();
        t.write("r.remove 2:0:0:0:0:2").unwrap();
        assert_eq!(t.read("r.rates"), "DEFAULT  2\n02-00-00-00-00-01  108\n");
        assert_eq!(t.read("r.debug"), "false\n");
    }

    #[test]
    fn says_what_is_wrong() {
        assert!(Harness::errors("AvailableRates(DEFAULT)").contains("error param DEFAULT must have > 1 arg"));
        let e = Harness::errors("AvailableRates(10.0.0.1 2 4)");
        assert!(e.contains("error param 10.0.0.1 2 4: must start with ethernet address"), "{e}");
        let mut t = Harness::new("r :: AvailableRates");
        assert_eq!(t.write("r.remove x").unwrap_err(), "remove parameter must be ethernet address");
        assert_eq!(t.write("r.insert 2:0:0:0:0:1").unwrap_err(), "error param 2:0:0:0:0:1 must have > 1 arg");
        assert_eq!(t.write("r.debug x").unwrap_err(), "debug parameter must be boolean");
    }
}
