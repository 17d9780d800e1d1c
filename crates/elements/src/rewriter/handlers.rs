//! Handlers of rewriters.

use super::core::Rewriter;
use super::flow_id::FlowId;
use super::input::{Input, Spec};
use super::table::FlowSet;
use super::table::deadlines::moment;
use super::table::flow::Place;
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_router::args::{ArgSpec, ArgType, Args, TcpPort};
use clickwork_router::handler::{Handler, Members};
use clickwork_router::llrpc::{Llrpc, LlrpcError, Number};
use clickwork_router::{Cx, llrpc, read_handler, read_param_handler, write_handler};

/// Mappings made here that exist.
pub const NMAPPINGS: Handler =
    read_handler!("nmappings", "mappings made by this rewriter", |e: &mut Rewriter, _| {
        sum(e, |input| input.count)
    });
/// Mappings that could not be made.
pub const FAILURES: Handler = read_handler!(
    "mapping_failures",
    "flows for which nothing was free, or no room",
    |e: &mut Rewriter, _| sum(e, |input| input.failures)
);
/// All input specifications.
pub const PATTERNS: Handler = read_handler!(
    "patterns",
    "what the inputs do, and how many mappings they made",
    |e: &mut Rewriter, _| {
        let place = e.membership()?;
        let lines: String = place.lock().inputs(place.member()).iter().map(Input::unparse).collect();
        Ok::<_, String>(lines)
    }
);
/// One input specification.
pub const PATTERN: Handler =
    read_param_handler!("pattern", "what an input does", |e: &mut Rewriter, text, _| {
        let place = e.membership()?;
        let mut set = place.lock();
        let input = text.trim().parse::<usize>().ok().and_then(|n| set.inputs(place.member()).get(n));
        input.map(Input::unparse).ok_or_else(|| "no such input".to_string())
    })
    .numbered(Members::Inputs)
    .and_write(write_handler!("", "", |e: &mut Rewriter, text, cx| set_pattern(e, text, cx)));
/// Flows in the set.
pub const SIZE: Handler =
    read_handler!("size", "mappings of all rewriters that share the capacity", |e: &mut Rewriter, _| {
        e.membership().map(|place| place.lock().size())
    });
/// The capacity.
pub const CAPACITY: Handler = read_handler!("capacity", "most mappings", |e: &mut Rewriter, _| {
    e.membership().map(|place| place.lock().capacity)
})
.and_write(write_handler!("", "", |e: &mut Rewriter, text, cx| set_capacity(e, text, cx)));
/// Removal of all flows.
pub const CLEAR: Handler = write_handler!("clear", "removes all mappings", |e: &mut Rewriter, _, _| {
    e.membership().map(|place| place.lock().clear())
});
/// The mappings, or those of TCP.
pub const TABLE: Handler = table("table", "mappings: flow => flow [outputs] input, seconds left");
/// The same by its older name.
pub const MAPPINGS: Handler = table("mappings", "the same as table").flags("D");
/// The mappings of TCP.
pub const TCP_TABLE: Handler =
    table("tcp_table", "mappings of TCP: flow => flow [outputs] input, seconds left");
/// The same by its older name.
pub const TCP_MAPPINGS: Handler = table("tcp_mappings", "the same as tcp_table").flags("D");
/// The mappings of UDP.
pub const UDP_TABLE: Handler =
    second_table("udp_table", "mappings of UDP: flow => flow [outputs] input, seconds left");
/// The same by its older name.
pub const UDP_MAPPINGS: Handler = second_table("udp_mappings", "the same as udp_table").flags("D");
/// What becomes of a flow.
pub const LOOKUP: Handler = lookup("lookup");
/// The same for TCP.
pub const TCP_LOOKUP: Handler = lookup("tcp_lookup");

/// What becomes of a flow, by number: addresses and ports, as they stand in headers.
pub const LLRPCS: &[Llrpc] = &[
    llrpc!(Number::MAP_TCP, |e: &mut Rewriter, data, _| map(e, data, protocol::TCP)),
    llrpc!(Number::MAP_UDP, |e: &mut Rewriter, data, _| map(e, data, protocol::UDP)),
];

const fn table(name: &'static str, help: &'static str) -> Handler {
    read_handler!(name, help, |e: &mut Rewriter, cx| print(e, 0, cx))
}

const fn second_table(name: &'static str, help: &'static str) -> Handler {
    read_handler!(name, help, |e: &mut Rewriter, cx| print(e, 1, cx))
}

const fn lookup(name: &'static str) -> Handler {
    read_param_handler!(
        name,
        "what becomes of a flow of TCP: SADDR SPORT DADDR DPORT",
        |e: &mut Rewriter, text, cx| look_up(e, text, cx)
    )
}

fn sum(e: &Rewriter, count: impl Fn(&Input) -> u32) -> Result<u32, String> {
    let place = e.membership()?;
    Ok(place.lock().inputs(place.member()).iter().map(count).sum())
}

/// `N SPECIFICATION`: an input does something else from now on, and its flows are gone.
fn set_pattern(e: &Rewriter, text: &str, cx: &Cx<'_>) -> Result<(), String> {
    let (input, text) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let place = e.membership()?;
    let input: usize = input.parse().map_err(|_| "no such input")?;
    let spec = Spec::parse(text, cx).map_err(|wrong| format!("input spec {input}: {wrong}"))?;
    if let Spec::Mapper(mapper) = &spec {
        mapper.lock().check(cx.outputs()).map_err(|errors| errors.join("\n"))?;
    }
    let mut set = place.lock();
    set.destroy_of_input(place.member(), input);
    let slot = set.inputs(place.member()).get_mut(input).ok_or("no such input")?;
    *slot = Input::new(spec);
    Ok(())
}

const CAPACITY_ARGS: &[ArgSpec] = &[ArgSpec::required("CAPACITY", ArgType::I32, "most mappings")];

/// There may be so many flows from now on; those that are too many, or have ended, are gone.
fn set_capacity(e: &Rewriter, text: &str, cx: &Cx<'_>) -> Result<(), String> {
    let mut args = Args::from_words(CAPACITY_ARGS, text, &cx.names());
    let capacity = args.get::<i32>("CAPACITY");
    args.finish().map_err(|e| e.to_string())?;
    let mut set = e.membership()?.lock();
    set.capacity = capacity.unwrap_or(set.capacity);
    set.reap(moment(cx.recent()), usize::MAX);
    Ok(())
}

fn print(e: &Rewriter, table: usize, cx: &Cx<'_>) -> Result<String, String> {
    let place = e.membership()?;
    let (set, now) = (place.lock(), moment(cx.recent()));
    let line = |(flow, direction)| format!("{}\n", unparse(e, &set, flow, direction, now));
    Ok(set.list(place.tables()[table]).into_iter().map(line).collect())
}

/// A mapping as Click prints it: `FLOW => FLOW [*OUTPUT OUTPUT] iINPUT expSECONDS`, with its output starred.
fn unparse(e: &Rewriter, set: &FlowSet, place: Place, direction: usize, now: u32) -> String {
    let flow = set.flow(place);
    let shift = set.sequences.get(&place).map_or(0, |s| s.shift(direction));
    let shift = if shift == 0 { String::new() } else { format!(" seq {shift:+}") };
    let star = |of| if of == direction { "*" } else { "" };
    let [forward, reply] = flow.outputs;
    let outputs = format!("[{}{forward} {}{reply}]", star(0), star(1));
    let left = set.seconds_left(place, now);
    format!("{}{shift} {outputs} i{} exp{left}", e.kind().unparse(flow, direction), flow.input)
}

const LOOKUP_ARGS: &[ArgSpec] = &[
    ArgSpec::required("SADDR", ArgType::IpAddr, "source address"),
    ArgSpec::required("SPORT", ArgType::TcpPort, "source port"),
    ArgSpec::required("DADDR", ArgType::IpAddr, "destination address"),
    ArgSpec::required("DPORT", ArgType::TcpPort, "destination port"),
];

/// Puts the flow that it becomes in a flow's place.
fn map(e: &Rewriter, data: &mut [u8], protocol: u8) -> Result<(), LlrpcError> {
    let data: &mut [u8; 12] = data.try_into().map_err(|_| LlrpcError::Invalid)?;
    let place = e.membership().map_err(|_| LlrpcError::TryAgain)?;
    let found = place.translate(&place.lock(), protocol, FlowId::from_octets(data));
    *data = found.ok_or(LlrpcError::TryAgain)?.id.octets();
    Ok(())
}

fn look_up(e: &Rewriter, text: &str, cx: &Cx<'_>) -> Result<String, String> {
    let mut args = Args::from_words(LOOKUP_ARGS, text, &cx.names());
    let addresses = (args.get::<Ipv4Address>("SADDR"), args.get::<Ipv4Address>("DADDR"));
    let ports = (args.get::<TcpPort>("SPORT"), args.get::<TcpPort>("DPORT"));
    args.finish().map_err(|e| e.to_string())?;
    let ((Some(source), Some(destination)), (Some(from), Some(to))) = (addresses, ports) else {
        return Ok(String::new());
    };
    let place = e.membership()?;
    let (set, id) = (place.lock(), FlowId::new(source, from.0, destination, to.0));
    let Some((flow, direction)) = set.find(place.tables()[0], &id) else { return Ok(String::new()) };
    let new = set.flow(flow).rewritten(direction);
    Ok(format!("{} {} {} {}", new.source(), new.source_port, new.destination(), new.destination_port))
}
