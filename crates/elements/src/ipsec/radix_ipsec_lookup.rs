//! RadixIPsecLookup: routes packets, and notes the security associations of tunnels on them.
//!
//! Routes that have an association are kept apart from the trie, which for them holds the number of a [`Tunnel`] in place of
//! the output.

use super::sa::{self, Association, Store};
use crate::ip::ip_lookup::DefinedNames;
use crate::ip::lookup::commands::{self, CommandError, Context};
use crate::ip::lookup::{Hop, RadixTable, Removal, Route, RouteError, RouteTable};
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Header, Ipv4Header};
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args, Names, split_words};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, ElementId, read_handler, read_param_handler, write_handler};
use std::sync::Arc;

/// The class facts.
pub static CLASS: Class = Class {
    help: "routes packets and notes the keys of tunnels on them",
    manual: "For old configurations with IPsecESPEncap and its relatives; IPsecESPEncrypt holds its own keys.\n\n\
             Looks up the destination address annotation of each packet, as RadixIPLookup does. A route may end with a \
             security association: SPI, ENCRYPT_KEY and AUTH_KEY (16 bytes each, such as \\<0001...0f>), REPLAY (the first \
             sequence number) and OOSIZE (how far behind the greatest a sequence number may come).\n\n\
             A packet whose route leads to output 1 is annotated with the SPI and the association of the route, for the \
             elements that encrypt. A packet whose route leads to output 0 is for this router and should be ESP: it is \
             annotated with the association that has the SPI behind its 20-byte IP header; packets with an unknown SPI, \
             and so as a rule those that are not ESP, are dropped, as in Click. A packet with a known SPI behind a header \
             that does not say ESP goes to output 2. The first association with an SPI is that for packets received; an \
             SATable may hold more. Keys can be read with the handler 'table'. \
             A key may be in a file: 'file:NAME' stands for what is there, in hexadecimal.",
    example: super::OLD_EXAMPLE,
    ports: "1/-",
    processing: "h/h",
    flow: "x/x!",
    args: &[ArgSpec::rest(
        "ROUTE",
        ArgType::Other("ADDR/MASK [GATEWAY] OUTPUT [SPI ENCRYPT_KEY AUTH_KEY REPLAY OOSIZE]"),
        "addresses, the router they are reached through, the output, and the tunnel's association",
    )
    .secret_from_word(3)],
    handlers: &[
        write_handler!("add", "adds a route", |e: &mut RadixIPsecLookup, text, cx| e
            .command("add", text, cx)),
        write_handler!("set", "adds or replaces a route", |e: &mut RadixIPsecLookup, text, cx| e
            .command("set", text, cx)),
        write_handler!("remove", "removes the route for ADDR/MASK", |e: &mut RadixIPsecLookup, text, cx| e
            .command("remove", text, cx)),
        write_handler!(
            "ctrl",
            "'add', 'set', 'remove' lines: all or none",
            |e: &mut RadixIPsecLookup, text, cx| e.transact(text, cx)
        ),
        read_handler!("table", "all routes, with their keys", |e: &mut RadixIPsecLookup, _| e.dump())
            .secret(),
        read_param_handler!(
            "lookup",
            "output and gateway for an address",
            |e: &mut RadixIPsecLookup, text, cx| e.answer(text, cx)
        ),
    ],
    ..Class::new("RadixIPsecLookup", "ipsec", || Box::<RadixIPsecLookup>::default())
};

/// Where packets for this router go that are not ESP.
const TO_HOST: u32 = 2;

#[derive(Default)]
struct RadixIPsecLookup {
    routes: Routes,
    /// The routes of the configuration, to tell at a hot swap whether they changed.
    configured: Vec<String>,
    tables: Vec<(ElementId, Arc<Store>)>,
}

/// What a route with an association leads to.
#[derive(Clone, Copy)]
struct Tunnel {
    port: u32,
    spi: u32,
    /// The number of the association.
    association: u32,
}

#[derive(Default)]
struct Routes {
    table: RadixTable,
    tunnels: Vec<Option<Tunnel>>,
    outputs: u32,
    store: Arc<Store>,
}

/// What a line asks for.
enum Change {
    Add(Route),
    Set(Route),
    Remove(Removal),
}

impl Routes {
    /// Output and tunnel behind what the trie says.
    fn resolve(&self, hop: Hop) -> (u32, Option<Tunnel>) {
        let tunnel = hop.port.checked_sub(self.outputs).and_then(|n| *self.tunnels.get(n as usize)?);
        (tunnel.map_or(hop.port, |t| t.port), tunnel)
    }

    /// Reads a route; its association, if it has one, is added.
    fn parse(&mut self, text: &str, names: &Names, cx: &Cx<'_>) -> Result<Route, CommandError> {
        let defined = DefinedNames(names.clone());
        let context = Context { names: &defined, outputs: self.outputs };
        let words = split_words(text);
        // The route proper has two words, or three; the rest is the association.
        let plain = |n: usize| commands::parse_route(&words[..n.min(words.len())].join(" "), context);
        let (mut route, len) = match plain(3) {
            Ok(route) => (route, 3),
            Err(CommandError::BadOutput) => return Err(CommandError::BadOutput),
            Err(_) => (plain(2)?, 2),
        };
        if words.len() > len {
            let complain = |text: &str| cx.chatter(text);
            let (spi, association) = Association::parse(&words[len..].join(" "), names, complain)
                .ok_or(CommandError::ExpectedRoute)?;
            let association = self.store.add(spi, association);
            self.store.receive(association, complain);
            route.hop.port = self.outputs + self.keep(Tunnel { port: route.hop.port, spi, association });
        }
        Ok(route)
    }

    /// Gives a tunnel a number.
    fn keep(&mut self, tunnel: Tunnel) -> u32 {
        let free = self.tunnels.iter().position(Option::is_none).unwrap_or_else(|| {
            self.tunnels.push(None);
            self.tunnels.len() - 1
        });
        self.tunnels[free] = Some(tunnel);
        free as u32
    }

    /// Forgets the tunnel of a route that is gone.
    fn release(&mut self, route: Route) {
        let number = route.hop.port.checked_sub(self.outputs);
        if let Some(tunnel) = number.and_then(|n| self.tunnels.get_mut(n as usize)?.take()) {
            self.store.release(tunnel.association);
        }
    }

    /// The removal as the trie needs it: an output that the text names is compared here.
    fn removal(&self, text: &str, names: &Names) -> Result<Removal, CommandError> {
        let defined = DefinedNames(names.clone());
        let wanted = commands::parse_removal(text, Context { names: &defined, outputs: self.outputs })?;
        let found = self.table.routes().find(|route| route.prefix() == wanted.prefix());
        let as_seen = found.map(|r| Route::new(r.prefix(), r.hop.gateway, self.resolve(r.hop).0));
        match as_seen.is_some_and(|route| wanted.matches(&route)) {
            true => Ok(Removal::new(wanted.prefix(), None)),
            false => Err(CommandError::Table(RouteError::NotFound(wanted))),
        }
    }

    /// Makes a change and gives the one that undoes it. Routes that are gone are kept in `gone` until that is certain.
    fn change(&mut self, change: Change, gone: &mut Vec<Route>) -> Result<Change, RouteError> {
        let (route, old) = match change {
            Change::Add(route) => (route, self.table.insert(route, false)),
            Change::Set(route) => (route, self.table.insert(route, true)),
            Change::Remove(removal) => {
                let route = self.table.remove(&removal)?;
                gone.push(route);
                return Ok(Change::Add(route));
            }
        };
        match old {
            Ok(Some(old)) => {
                gone.push(old);
                Ok(Change::Set(old))
            }
            Ok(None) => Ok(Change::Remove(Removal::new(route.prefix(), None))),
            Err(error) => {
                self.release(route);
                Err(error)
            }
        }
    }

    /// A route as Click prints it, in columns or in a row.
    fn unparse(&self, route: Route, columns: bool) -> String {
        let (port, tunnel) = self.resolve(route.hop);
        let plain = Route::new(route.prefix(), route.hop.gateway, port);
        let text = if columns { plain.table_line() } else { plain.to_string() };
        match tunnel.filter(|t| t.spi != 0).and_then(|t| Some((t.spi, self.store.get(t.association)?))) {
            None => text,
            Some((spi, association)) => {
                format!(
                    "{text}  |TUNNELED CONNECTION| \n|SPI| |ENC KEY| |AUTH KEY| ||\n |{spi}|{association}\n"
                )
            }
        }
    }

    fn explain(&self, error: &CommandError) -> String {
        match error {
            CommandError::Table(RouteError::Exists(old)) => {
                format!("conflict with existing route '{}'", self.unparse(*old, false))
            }
            CommandError::BadOutput | CommandError::ExpectedRoute => {
                "expected 'ADDR/MASK [GATEWAY] OUTPUT'".to_string()
            }
            other => other.to_string(),
        }
    }
}

impl RadixIPsecLookup {
    fn read(&mut self, command: &str, text: &str, cx: &Cx<'_>) -> Result<Change, CommandError> {
        match command {
            "add" => self.routes.parse(text, &cx.names(), cx).map(Change::Add),
            "set" => self.routes.parse(text, &cx.names(), cx).map(Change::Set),
            "remove" => self.routes.removal(text, &cx.names()).map(Change::Remove),
            word => Err(CommandError::BadCommand(word.to_string())),
        }
    }

    fn command(&mut self, command: &str, text: &str, cx: &Cx<'_>) -> Result<(), String> {
        self.transact(&format!("{command} {text}"), cx)
    }

    /// All commands of `text`, one a line, or none.
    fn transact(&mut self, text: &str, cx: &Cx<'_>) -> Result<(), String> {
        let (mut undo, mut gone) = (Vec::new(), Vec::new());
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let outcome = self.read(command, rest, cx);
            match outcome.and_then(|c| self.routes.change(c, &mut gone).map_err(CommandError::from)) {
                Ok(step) => undo.push(step),
                Err(error) => {
                    let message = self.routes.explain(&error);
                    self.roll_back(undo);
                    return Err(message);
                }
            }
        }
        gone.into_iter().for_each(|route| self.routes.release(route));
        Ok(())
    }

    fn roll_back(&mut self, undo: Vec<Change>) {
        let mut gone = Vec::new();
        for step in undo.into_iter().rev() {
            let undone = self.routes.change(step, &mut gone);
            debug_assert!(undone.is_ok(), "each step was possible in the state it leads back to");
        }
        gone.into_iter().for_each(|route| self.routes.release(route));
    }

    fn dump(&self) -> String {
        self.routes.table.routes().map(|route| self.routes.unparse(route, true) + "\n").collect()
    }

    fn answer(&self, text: &str, cx: &Cx<'_>) -> Result<String, String> {
        let text = text.trim();
        let address = commands::AddressNames::address(&DefinedNames(cx.names()), text);
        let address = address.ok_or_else(|| format!("expected IP address, not '{text}'"))?;
        let Some(hop) = self.routes.table.lookup(address) else { return Ok("-1".to_string()) };
        Ok(Hop { gateway: hop.gateway, port: self.routes.resolve(hop).0 }.to_string())
    }

    /// Where a packet goes, its annotations set; none if it is to be dropped, for the reason given.
    fn route(&mut self, p: &mut Packet, cx: &Cx<'_>) -> Result<u32, &'static str> {
        let destination = p.dst_ip();
        let Some(hop) = self.routes.table.lookup(destination) else {
            cx.report("no route", || format!("IPsecRouteTable: no route for {destination}"));
            return Err("no route");
        };
        let (mut port, tunnel) = self.routes.resolve(hop);
        match port {
            0 => port = self.received(p, cx)?,
            1 => self.sent(p, tunnel, cx),
            _ => {}
        }
        if !hop.gateway.is_unspecified() {
            p.set_dst_ip(hop.gateway);
        }
        Ok(port)
    }

    fn sent(&self, p: &mut Packet, tunnel: Option<Tunnel>, cx: &Cx<'_>) {
        match tunnel {
            Some(tunnel) => sa::refer(p, cx.id(), tunnel.association),
            None => sa::refer_to_none(p),
        }
        if tunnel.is_none_or(|t| t.spi == 0) {
            let destination = p.dst_ip();
            cx.report("no tunnel", || format!("No Ipsec tunnel for {destination}. Wrong tunnel setup"));
        }
        p.set_anno_u32(sa::SPI, tunnel.map_or(0, |t| t.spi));
    }

    fn received(&self, p: &mut Packet, cx: &Cx<'_>) -> Result<u32, &'static str> {
        let is_esp = Ipv4Header::peek(p.data()).is_some_and(|ip| ip.protocol == protocol::ESP);
        let spi = p.data().get(20..24).and_then(|b| b.first_chunk()).map_or(0, |&b| u32::from_be_bytes(b));
        if spi == 0 {
            // Click's table of associations has no name.
            cx.report("NULL spi", || "<unknown>: lookup called with NULL spi!".to_string());
        }
        let mine = self.routes.store.incoming(spi).map(|number| (cx.id(), number));
        let others = || self.tables.iter().find_map(|(id, store)| Some((*id, store.incoming(spi)?)));
        let Some((holder, number)) = mine.or_else(others) else {
            cx.report("Invalid SPI", || format!("Invalid SPI {}, Dropping packet", spi as i32));
            return Err("unknown SPI");
        };
        sa::refer(p, holder, number);
        Ok(if is_esp { 0 } else { TO_HOST })
    }
}

impl Element for RadixIPsecLookup {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        self.routes.outputs = cx.outputs() as u32;
        self.configured = args.rest().to_vec();
        let names = args.names().clone();
        for (index, text) in self.configured.iter().enumerate() {
            match self.routes.parse(text, &names, cx) {
                // A second route for the same addresses is passed over.
                Ok(route) => drop(self.routes.change(Change::Add(route), &mut Vec::new())),
                Err(_) => args.error_in_rest(
                    index,
                    format!("argument {} should be 'ADDR/MASK [GATEWAY] OUTPUT'", index + 1),
                ),
            }
        }
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let tables = cx.router().ids().filter(|&id| cx.router().info(id).class.name == "SATable");
        let tables: Vec<_> = tables.collect();
        self.tables = tables.into_iter().filter_map(|id| Some((id, cx.exported::<Store>(id)?))).collect();
        cx.export(Arc::clone(&self.routes.store));
        Ok(())
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        for mut p in batch.take() {
            match self.route(&mut p, cx) {
                Ok(port) => cx.emit(port as usize, p),
                Err(reason) => cx.drop(p, reason),
            }
        }
    }

    /// Routes that handlers added and removed stay if the configuration says the same as before. Associations that are the
    /// same go on where they were in any case.
    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        let Some(old) = try_downcast::<RadixIPsecLookup>(old) else { return };
        if old.configured == self.configured && old.routes.outputs == self.routes.outputs {
            std::mem::swap(&mut self.routes.table, &mut old.routes.table);
            std::mem::swap(&mut self.routes.tunnels, &mut old.routes.tunnels);
            self.routes.store.take_all(&old.routes.store);
        } else {
            self.routes.store.take_state(&old.routes.store);
        }
    }
}
