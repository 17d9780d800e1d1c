//! ChatterSocket: shows the router's messages to programs outside. `backlog.rs` keeps what is to be sent, `client.rs` sends it.

mod backlog;
mod client;
#[cfg(test)]
mod tests;

use super::control_socket::listener::{Address, Listener};
use crate::capture::error::system_message;
use backlog::Backlog;
use clickwork_router::args::{ArgSpec, ArgType, Args, Filename, FromArg, Word, unquote};
use clickwork_router::element::try_downcast;
use clickwork_router::facts::phase;
use clickwork_router::{Class, Cx, Element, Log, Ready, read_handler};
use client::Client;
use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "shows the router's messages to programs outside",
    manual: "Listens at a TCP port ('TCP, 7778') or a Unix socket ('UNIX, /tmp/chatter'). Who connects gets the line \
             'Click::ChatterSocket/1.0', unless GREETING is false, and then a copy of each message of the router. What \
             clients say is ignored. A client that falls more than 500,000 bytes behind is disconnected, and the one that \
             came first when there would be more than 256.\n\n\
             A port alone is for programs on this machine. With an address ('TCP, 192.0.2.1:7778', or '0.0.0.0:7778' for \
             all) other machines can connect, and a message says so. The file of a Unix socket on which nobody answers is \
             replaced.\n\n\
             With CHANNEL, what is shown are messages of elements whose CHANNEL has the same name, such as IPPrint's; those \
             are not printed anywhere else, unless QUIET_CHANNEL is false. If the address is taken, RETRIES says how \
             often to try again, once a second; RETRY_WARNINGS whether that is said. A router that replaces this one takes \
             over its clients, if its ChatterSocket has RETRIES.",
    ports: "0/0",
    phase: phase::INFO,
    args: &[
        ArgSpec::required("TYPE", ArgType::Choice(&["TCP", "UNIX"]), "the kind of socket"),
        ArgSpec::positional("PORT", ArgType::Other("[ADDRESS:]PORT"), "", "where to listen (TCP)"),
        ArgSpec::keyword("FILENAME", ArgType::Filename, "", "where to listen (UNIX)"),
        ArgSpec::keyword("CHANNEL", ArgType::Word, "default", "the channel whose messages are shown"),
        ArgSpec::keyword("QUIET_CHANNEL", ArgType::Bool, "true", "whether another channel is not printed"),
        ArgSpec::keyword("GREETING", ArgType::Bool, "true", "whether clients are greeted"),
        ArgSpec::keyword("RETRIES", ArgType::I32, "0", "how often to try again to listen"),
        ArgSpec::keyword("RETRY_WARNINGS", ArgType::Bool, "true", "whether that is reported"),
    ],
    ..Class::new("ChatterSocket", "control", || Box::<ChatterSocket>::default())
};

const GREETING: &[u8] = b"Click::ChatterSocket/1.0\r\n";
/// The timer that tries again to listen.
const RETRY_TIMER: usize = 0;
/// The timer that goes on accepting after accepting failed.
const ACCEPT_TIMER: usize = 1;
const ONE_SECOND: Duration = Duration::from_secs(1);
/// Clients at a time.
const MAX_CLIENTS: usize = 256;
/// Longest name of a Unix socket.
const MAX_PATH: usize = 107;

/// A channel of messages that is not the router's own; found by its name.
pub struct Channel {
    name: String,
    log: Log,
}

impl Channel {
    /// Where messages of the channel of that name go: nowhere if nobody has opened it.
    pub fn open(name: &str, cx: &Cx<'_>) -> Log {
        let mut channels = cx.router().ids().filter_map(|id| cx.exported::<Channel>(id));
        channels.find(|channel| channel.name == name).map_or_else(Log::quiet, |channel| channel.log.clone())
    }
}

#[derive(Default)]
struct ChatterSocket {
    address: Option<Address>,
    channel: String,
    greeting: bool,
    retries: i32,
    retry_warnings: bool,
    backlog: Option<Arc<Backlog>>,
    listener: Option<Listener>,
    clients: BTreeMap<RawFd, Client>,
    /// How many clients ever came.
    came: u64,
}

impl ChatterSocket {
    fn read_address(args: &mut Args) -> Option<Address> {
        let kind = unquote(args.raw("TYPE")?).to_uppercase();
        let name = match kind.as_str() {
            "TCP" => "PORT",
            "UNIX" => "FILENAME",
            _ => {
                args.error(format!("unknown socket type `{kind}'"));
                return None;
            }
        };
        // The second argument is the address, whatever the kind.
        let Some(text) = args.raw(name).or_else(|| args.raw("PORT")).map(str::to_string) else {
            args.error(format!("{name}: required argument missing"));
            return None;
        };
        let address = match name {
            "PORT" if text.ends_with('+') => None,
            "PORT" => Address::tcp(&text, args.names()),
            _ => Filename::from_arg(&text, args.names()).ok().map(|f| Address::Unix(f.0)),
        };
        match &address {
            None => args.error_in(name, "parse error"),
            Some(Address::Unix(path)) if path.as_os_str().as_bytes().len() > MAX_PATH => {
                args.error("filename too long");
            }
            Some(_) => {}
        }
        address
    }

    /// Has the messages of the channel kept for clients.
    fn hear(&mut self, quiet: bool, cx: &mut Cx<'_>) -> Result<(), String> {
        let backlog = Arc::new(Backlog::new().map_err(|e| system_message(&e))?);
        self.backlog = Some(Arc::clone(&backlog));
        if self.channel == "default" {
            cx.log().add_listener(&backlog);
            return Ok(());
        }
        let all = cx.router().ids().filter_map(|id| cx.exported::<Channel>(id));
        let known = all.into_iter().find(|channel| channel.name == self.channel);
        let channel = known.unwrap_or_else(|| {
            let log = if quiet { Log::quiet() } else { cx.log().apart() };
            Arc::new(Channel { name: self.channel.clone(), log })
        });
        channel.log.add_listener(&backlog);
        cx.export(channel);
        Ok(())
    }

    /// Tries to listen. On failure there may be another try.
    fn listen(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let Some(address) = &self.address else { return Ok(()) };
        self.retries -= 1;
        match Listener::bind(address) {
            Ok(listener) => {
                if let Some(address) = listener.as_ref().and_then(Listener::open_address) {
                    let name = format!("{} :: ChatterSocket", cx.name());
                    cx.chatter(&format!(
                        "{name}: listening on {address}: other machines can read the messages"
                    ));
                }
                self.listener = listener;
                self.watch_listener(cx)
            }
            Err(e) if self.retries < 0 => Err(e),
            Err(e) => {
                if self.retry_warnings {
                    let left = self.retries + 1;
                    let tries = if left == 1 { "try" } else { "tries" };
                    cx.chatter(&format!("{}: warning: {e} ({left} {tries} left)", cx.name()));
                }
                cx.schedule_timer_after(RETRY_TIMER, ONE_SECOND);
                Ok(())
            }
        }
    }

    fn watch_listener(&self, cx: &mut Cx<'_>) -> Result<(), String> {
        let Some(listener) = &self.listener else { return Ok(()) };
        cx.watch(listener.socket(), Ready { read: true, write: false }).map_err(|e| system_message(&e))
    }

    fn accept(&mut self, cx: &mut Cx<'_>) {
        let (Some(listener), Some(backlog)) = (&self.listener, &self.backlog) else { return };
        match listener.accept() {
            Ok(Some((socket, _))) => {
                let greeting = if self.greeting { GREETING } else { &[] };
                let client = Client::new(socket, greeting, backlog.text().end(), self.came);
                self.came += 1;
                self.make_room(cx);
                self.clients.insert(client.socket().as_raw_fd(), client);
                self.flush(cx);
            }
            Ok(None) => {}
            Err(e) => {
                // Most likely there are no descriptors left. To ask again at once would be an endless loop.
                cx.unwatch(listener.socket().as_raw_fd());
                cx.schedule_timer_after(ACCEPT_TIMER, ONE_SECOND);
                cx.chatter(&format!("{} :: ChatterSocket: accept: {}", cx.name(), system_message(&e)));
            }
        }
    }

    /// When there are as many clients as there may be, the one that came first makes room for the next.
    fn make_room(&mut self, cx: &mut Cx<'_>) {
        let first = self.clients.iter().min_by_key(|(_, client)| client.number).map(|(fd, _)| *fd);
        if let Some(fd) = first.filter(|_| self.clients.len() >= MAX_CLIENTS) {
            cx.unwatch(fd);
            self.clients.remove(&fd);
        }
    }

    /// Sends to all clients what they take, and forgets what nobody needs.
    fn flush(&mut self, cx: &mut Cx<'_>) {
        let Some(backlog) = &self.backlog else { return };
        let mut text = backlog.text();
        let end = text.end();
        self.clients.retain(|fd, client| {
            client.flush(&text);
            let stays = !client.is_lost && cx.watch(client.socket(), client.interest(end)).is_ok();
            if !stays {
                cx.unwatch(*fd);
            }
            stays
        });
        text.forget_before(self.clients.values().map(Client::position).min().unwrap_or(end));
        text.is_wanted = !self.clients.is_empty();
    }
}

impl Element for ChatterSocket {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        (self.greeting, self.retry_warnings) = (true, true);
        let (mut quiet, mut channel) = (true, Word("default".to_string()));
        args.read("CHANNEL", &mut channel)
            .read("QUIET_CHANNEL", &mut quiet)
            .read("GREETING", &mut self.greeting)
            .read("RETRIES", &mut self.retries)
            .read("RETRY_WARNINGS", &mut self.retry_warnings);
        self.channel = channel.0;
        self.address = ChatterSocket::read_address(args);
        if let Some(Address::Tcp { .. }) = self.address {
            cx.add_handler(
                "port",
                read_handler!("", "the TCP port", |e: &mut ChatterSocket, _| {
                    e.listener.as_ref().and_then(Listener::port).unwrap_or_default()
                }),
            );
        }
        if let Err(e) = self.hear(quiet, cx) {
            args.error(e);
        }
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        if let Some(backlog) = &self.backlog {
            let ready = Ready { read: true, write: false };
            cx.watch(backlog.news(), ready).map_err(|e| system_message(&e))?;
        }
        self.listen(cx)
    }

    fn selected(&mut self, fd: RawFd, ready: Ready, cx: &mut Cx<'_>) {
        if self.listener.as_ref().is_some_and(|l| l.socket().as_raw_fd() == fd) {
            return self.accept(cx);
        }
        match self.clients.get_mut(&fd) {
            Some(client) if ready.read => client.listen(),
            Some(_) => {}
            None => self.backlog.iter().for_each(|b| b.read_news()),
        }
        self.flush(cx);
    }

    fn run_timer(&mut self, slot: usize, cx: &mut Cx<'_>) {
        let outcome = match slot {
            RETRY_TIMER if self.listener.is_none() => self.listen(cx),
            _ => self.watch_listener(cx),
        };
        if let Err(e) = outcome {
            cx.chatter(&format!("{} :: ChatterSocket: {e}", cx.name()));
            cx.stop_driver();
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        let Some(old) = try_downcast::<ChatterSocket>(old) else { return };
        let complain = |what, cx: &Cx<'_>| cx.chatter(&format!("{} :: ChatterSocket: {what}", cx.name()));
        if self.listener.is_some() {
            return complain("already initialized, can't take state", cx);
        }
        if self.address != old.address || self.channel != old.channel {
            return complain("incompatible ChatterSockets", cx);
        }
        self.listener = old.listener.take();
        (self.clients, self.came) = (std::mem::take(&mut old.clients), old.came);
        if let (Some(mine), Some(theirs)) = (&self.backlog, &old.backlog) {
            std::mem::swap(&mut *mine.text(), &mut *theirs.text());
        }
        if self.listener.is_some() {
            cx.unschedule_timer(RETRY_TIMER);
        }
        if let Err(e) = self.watch_listener(cx) {
            complain(&e, cx);
        }
        self.flush(cx);
    }

    fn cleanup(&mut self, cx: &mut Cx<'_>) {
        self.flush(cx);
        for fd in std::mem::take(&mut self.clients).into_keys() {
            cx.unwatch(fd);
        }
        if let Some(backlog) = self.backlog.take() {
            cx.unwatch(backlog.news().as_raw_fd());
        }
        if let Some(listener) = self.listener.take() {
            cx.unwatch(listener.socket().as_raw_fd());
            listener.close();
        }
    }
}
