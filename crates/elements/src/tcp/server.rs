//! Servers: elements that wait for connections at a port of a stack and serve each. What they serve is a [`Service`].

use super::address::{ADDRESS, Address};
use super::seat::Seat;
use super::sessions::{Session, Sessions, Totals};
use crate::named::element_of;
use clickwork_router::args::{ArgSpec, ArgType, Args, TcpPort};
use clickwork_router::element::try_downcast;
use clickwork_router::router::ElementId;
use clickwork_router::{Class, Cx, Element, Handler, TaskStep, read_handler, write_handler};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// Connections that may wait to be served, unless BACKLOG says otherwise.
pub const BACKLOG: u32 = 128;

/// The argument STACK.
pub const STACK: ArgSpec =
    ArgSpec::required("STACK", ArgType::Element, "the ProlacTCP whose connections it has");
/// The argument LOCAL_ADDR of those who wait for connections.
pub const LOCAL: ArgSpec =
    ArgSpec::keyword("LOCAL_ADDR", ADDRESS, "", "the address at which it waits; all, if not given");
/// The argument BACKLOG.
pub const BACKLOG_ARG: ArgSpec =
    ArgSpec::keyword("BACKLOG", ArgType::U32, "128", "connections that may wait to be served");

/// A protocol as a server speaks it.
pub trait Service: Default + Send + 'static {
    /// What it does with a connection.
    type Session: Session;

    /// Reads the service's own arguments.
    fn configure(&mut self, args: &mut Args) {
        let _ = args;
    }

    /// A connection was accepted.
    fn open(&mut self) -> Self::Session;

    /// A session has come to its end.
    fn ended(&mut self, session: Self::Session) {
        let _ = session;
    }
}

/// The facts that classes of servers have in common.
pub const fn class<S: Service>(name: &'static str) -> Class {
    Class {
        ports: "0/0",
        handlers: &Server::<S>::HANDLERS,
        ..Class::new(name, "tcp", || Box::<Server<S>>::default())
    }
}

/// How many handlers all servers have.
pub const HANDLERS: usize = 8;

/// The handlers of all servers, and one more.
pub const fn handlers_and<S: Service>(own: Handler) -> [Handler; HANDLERS + 1] {
    let mut all = [own; HANDLERS + 1];
    let mut n = 0;
    while n < HANDLERS {
        all[n] = Server::<S>::HANDLERS[n];
        n += 1;
    }
    all
}

/// The stack that an argument names.
pub fn stack_argument(args: &mut Args, name: &str, cx: &Cx<'_>) -> Option<ElementId> {
    let fits = |id| cx.router().info(id).class.name == super::prolac_tcp::CLASS.name;
    element_of(args, name, super::prolac_tcp::CLASS.name, fits, cx)
}

/// The argument PORT, or its default in the table of arguments.
pub fn port_argument(args: &mut Args, cx: &Cx<'_>) -> Option<u16> {
    if args.has("PORT") {
        return args.get::<TcpPort>("PORT").map(|port| port.0);
    }
    let spec = cx.info().class.args.iter().find(|spec| spec.name == "PORT")?;
    spec.default.parse().ok()
}

/// Where connections are waited for.
#[derive(Debug)]
pub struct Place {
    /// Whose stack.
    stack: ElementId,
    local: SocketAddr,
    backlog: u32,
}

impl Place {
    /// Reads STACK, PORT, LOCAL_ADDR and BACKLOG; nothing if one is wrong.
    pub fn configure(args: &mut Args, cx: &Cx<'_>) -> Option<Place> {
        let (stack, port) = (stack_argument(args, "STACK", cx), port_argument(args, cx));
        let any = Address(IpAddr::V6(Ipv6Addr::UNSPECIFIED));
        let address = if args.has("LOCAL_ADDR") { args.get("LOCAL_ADDR")? } else { any };
        let backlog = if args.has("BACKLOG") { args.get("BACKLOG")? } else { BACKLOG };
        Some(Place { stack: stack?, local: SocketAddr::new(address.0, port?), backlog })
    }

    /// Waits there. The role tells my places in the stack apart.
    ///
    /// # Errors
    /// Why that is not possible.
    pub fn listen(&self, role: &str, cx: &Cx<'_>) -> Result<Seat, String> {
        let seat = Seat::new(self.stack, role, cx)?;
        seat.listen(self.local, self.backlog)?;
        Ok(seat)
    }
}

/// A server.
pub struct Server<S: Service> {
    /// The protocol.
    pub service: S,
    place: Option<Place>,
    seat: Option<Seat>,
    sessions: Sessions<S::Session>,
}

impl<S: Service> Default for Server<S> {
    fn default() -> Server<S> {
        Server { service: S::default(), place: None, seat: None, sessions: Sessions::default() }
    }
}

impl<S: Service> Server<S> {
    const HANDLERS: [Handler; HANDLERS] = [
        read_handler!("connections", "connections it has now", |e: &mut Server<S>, _| e.sessions.len()),
        read_handler!("accepted", "connections it has had", |e: &mut Server<S>, _| e.totals().begun),
        read_handler!("done", "connections that ended in good order", |e: &mut Server<S>, _| e.totals().done),
        read_handler!("errors", "connections that failed", |e: &mut Server<S>, _| e.totals().failed),
        read_handler!("last_error", "the last error", |e: &mut Server<S>, _| e.sessions.last_error()),
        read_handler!("bytes_in", "bytes received", |e: &mut Server<S>, _| e.totals().bytes_in),
        read_handler!("bytes_out", "bytes sent", |e: &mut Server<S>, _| e.totals().bytes_out),
        write_handler!("abort", "breaks all its connections off", |e: &mut Server<S>, _, cx| {
            if let Some(seat) = &e.seat {
                e.sessions.abort_all(seat, cx);
            }
        }),
    ];

    fn totals(&self) -> &Totals {
        &self.sessions.totals
    }
}

impl<S: Service> Element for Server<S> {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        self.service.configure(args);
        self.place = Place::configure(args, cx);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.seat = self.place.as_ref().map(|place| place.listen("", cx)).transpose()?;
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        let Some(seat) = &self.seat else { return TaskStep::Sleep };
        let mut over = Vec::new();
        let step = self.sessions.run(seat, || self.service.open(), |session, _| over.push(session), cx);
        over.into_iter().for_each(|session| self.service.ended(session));
        step
    }

    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<Server<S>>(old) {
            self.sessions.inherit(&mut old.sessions);
            cx.schedule_task();
        }
    }
}
