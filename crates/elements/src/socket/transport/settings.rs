//! The arguments of Socket.

use super::super::name::{Name, inet};
use super::super::options::{Buffers, Form, HEADROOM, RCVBUF, SNAPLEN, SNDBUF, TIMESTAMP};
use crate::named::element;
use clickwork_packet::addr::Ipv4Address;
use clickwork_router::args::{ArgSpec, ArgType, Args, Filename, FromArg, TcpPort, UdpPort, unquote};
use clickwork_router::{Cx, ElementId};

/// The table of arguments. Positions after TYPE mean addresses and ports, or files, as TYPE says.
pub const ARGS: &[ArgSpec] = &[
    ArgSpec::required("TYPE", ArgType::Choice(&["TCP", "UDP", "UNIX", "UNIX_DGRAM"]), "the kind of socket"),
    ArgSpec::positional("ADDR", ArgType::Other("IP address, or file"), "", "the address (TCP, UDP)"),
    ArgSpec::positional("PORT", ArgType::Other("port, or file"), "", "the port (TCP, UDP)"),
    ArgSpec::positional("LOCAL_ADDR", ArgType::IpAddr, "", "a client's own address (TCP, UDP)"),
    ArgSpec::positional("LOCAL_PORT", ArgType::Other("port"), "", "a client's own port (TCP, UDP)"),
    ArgSpec::keyword("FILENAME", ArgType::Filename, "", "the socket's file (UNIX, UNIX_DGRAM)"),
    ArgSpec::keyword("LOCAL_FILENAME", ArgType::Filename, "", "a client's own file (UNIX, UNIX_DGRAM)"),
    ArgSpec::keyword("VERBOSE", ArgType::Bool, "false", "whether connections are reported"),
    SNAPLEN,
    HEADROOM,
    TIMESTAMP,
    RCVBUF,
    SNDBUF,
    ArgSpec::keyword("NODELAY", ArgType::Bool, "true", "whether TCP sends small segments at once"),
    ArgSpec::keyword("CLIENT", ArgType::Bool, "", "whether it connects; else it waits for others"),
    ArgSpec::keyword("PROPER", ArgType::Bool, "false", "no effect; for the sake of older configurations"),
    ArgSpec::keyword("ALLOW", ArgType::Element, "", "route table of addresses that are served"),
    ArgSpec::keyword("DENY", ArgType::Element, "", "route table of addresses that are not served"),
];

/// What a socket is to be.
#[derive(Debug)]
pub struct Settings {
    /// Whether it is a stream.
    pub stream: bool,
    /// Whether it connects.
    pub client: bool,
    /// The address a client connects to, a server has.
    pub remote: Name,
    /// A client's own address.
    pub local: Option<Name>,
    /// Whether connections are reported.
    pub verbose: bool,
    /// Whether small segments are sent at once.
    pub no_delay: bool,
    /// What received packets are like.
    pub form: Form,
    /// The system's buffers.
    pub buffers: Buffers,
    /// Table of addresses that are served.
    pub allow: Option<ElementId>,
    /// Table of addresses that are not, unless they are allowed.
    pub deny: Option<ElementId>,
}

impl Settings {
    /// The name that it takes: of a server the one that clients know, of a client perhaps one of its own.
    pub fn own_name(&self) -> Option<&Name> {
        if self.client { self.local.as_ref() } else { Some(&self.remote) }
    }

    /// Reads the arguments; nothing if there is an error.
    pub fn read(args: &mut Args, cx: &Cx<'_>) -> Option<Settings> {
        let kind = unquote(args.raw("TYPE")?).to_uppercase();
        let (remote, local) = match kind.as_str() {
            "TCP" | "UDP" => inet_names(args, kind == "TCP"),
            "UNIX" | "UNIX_DGRAM" => unix_names(args),
            _ => {
                args.error(format!("unknown socket type `{kind}'"));
                return None;
            }
        }?;
        for (name, whose) in [(Some(&remote), "remote"), (local.as_ref(), "local")] {
            if let Some(name) = name.filter(|name| name.is_too_long()) {
                args.error(format!("{whose} filename '{name}' too long"));
            }
        }
        let client = args.get("CLIENT").unwrap_or(cx.outputs() == 0 || local.is_some());
        let mut settings = Settings {
            stream: matches!(kind.as_str(), "TCP" | "UNIX"),
            client,
            remote,
            local: local.filter(|_| client),
            verbose: args.get("VERBOSE").unwrap_or(false),
            no_delay: args.get("NODELAY").unwrap_or(true),
            form: Form::default(),
            buffers: Buffers::default(),
            allow: table("ALLOW", args, cx),
            deny: table("DENY", args, cx),
        };
        settings.form.configure(args, true);
        settings.buffers.configure(args);
        let _: Option<bool> = args.get("PROPER");
        Some(settings)
    }
}

/// The text of an argument, which is recorded as missing if it is not there.
fn mandatory(args: &mut Args, names: &[&str]) -> Option<String> {
    let text = names.iter().find_map(|name| args.raw(name)).map(str::to_string);
    if text.is_none() {
        args.error(format!("{}: required argument missing", names[0]));
    }
    text
}

fn inet_names(args: &mut Args, is_tcp: bool) -> Option<(Name, Option<Name>)> {
    for name in ["FILENAME", "LOCAL_FILENAME"] {
        if args.has(name) {
            args.error_in(name, "not an argument of this type of socket");
        }
    }
    let address = mandatory(args, &["ADDR"]).and_then(|_| args.get::<Ipv4Address>("ADDR"));
    let port = mandatory(args, &["PORT"]).and_then(|_| port("PORT", args, is_tcp));
    let local_address: Option<Ipv4Address> = args.get("LOCAL_ADDR");
    let local_port = args.has("LOCAL_PORT").then(|| port_or_none(args, is_tcp)).flatten();
    let local = (local_address.is_some() || local_port.is_some())
        .then(|| Name::Inet(inet(local_address.unwrap_or_default(), local_port.unwrap_or_default())));
    Some((Name::Inet(inet(address?, port?)), local))
}

fn port_or_none(args: &mut Args, is_tcp: bool) -> Option<u16> {
    port("LOCAL_PORT", args, is_tcp)
}

fn port(name: &str, args: &mut Args, is_tcp: bool) -> Option<u16> {
    match is_tcp {
        true => args.get::<TcpPort>(name).map(|p| p.0),
        false => args.get::<UdpPort>(name).map(|p| p.0),
    }
}

fn unix_names(args: &mut Args) -> Option<(Name, Option<Name>)> {
    if args.has("LOCAL_ADDR") || args.has("LOCAL_PORT") {
        args.error("too many arguments");
    }
    let remote = mandatory(args, &["FILENAME", "ADDR"])?;
    let local = ["LOCAL_FILENAME", "PORT"].iter().find_map(|name| args.raw(name)).map(str::to_string);
    let mut file = |name, text: &str| {
        let file = Filename::from_arg(text, args.names()).ok().map(|f| Name::Unix(f.0));
        if file.is_none() {
            args.error(format!("{name}: parse error"));
        }
        file
    };
    let local = match local {
        Some(text) => Some(file("LOCAL_FILENAME", &text)?),
        None => None,
    };
    Some((file("FILENAME", &remote)?, local))
}

/// The route table that an argument names.
fn table(name: &str, args: &mut Args, cx: &Cx<'_>) -> Option<ElementId> {
    let id = element(args, name, cx)?;
    if !cx.router().has_read_handler(id, "lookup") {
        args.error(format!("{} is not an IPRouteTable", cx.router().info(id).name));
    }
    Some(id)
}
