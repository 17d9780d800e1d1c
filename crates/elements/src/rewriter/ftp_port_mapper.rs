//! FTPPortMapper: makes mappings for the data connections that FTP clients announce.

use super::apply::{headers, headers_mut};
use super::flow_id::FlowId;
use super::membership::Shared;
use super::table::Entry;
use crate::named::element_of;
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Header, TcpHeader};
use clickwork_packet::{Packet, checksum};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, ElementId, SimpleElement, Verdict};
use std::collections::HashSet;

/// The class facts.
pub static CLASS: Class = Class {
    help: "rewrites PORT commands of FTP and makes mappings for them",
    manual: "FTP clients tell servers an address and a port for data (RFC 959 §4.1.2). Behind a rewriter they would tell the \
             wrong one. This element looks for PORT commands at the beginning of packets to the server, has input \
             DATA_REWRITER_INPUT of DATA_REWRITER make a mapping for the connection from that address and port to the \
             server's data port (the control port less 1), and puts the address and port that come out into the command. \
             The packet may become longer or shorter by it, so CONTROL_REWRITER, through which it must go next, is told to \
             shift the sequence numbers of the connection.",
    example: "rw :: IPRewriter(pattern 1.0.0.1 1024-65535 - - 0 0); InfiniteSource(DATA \\<4500002a00000000 \
              400666cc0a000001 0a00000203e80015 0000000100000001 501020000f680000 6869>, LIMIT 1, STOP true) \
              -> CheckIPHeader -> FTPPortMapper(rw, rw, 0) -> rw -> Discard",
    packets: "ip/ip",
    args: &[
        ArgSpec::required(
            "CONTROL_REWRITER",
            ArgType::Element,
            "TCPRewriter or IPRewriter of the control connections",
        ),
        ArgSpec::required("DATA_REWRITER", ArgType::Element, "rewriter of the data connections"),
        ArgSpec::required("DATA_REWRITER_INPUT", ArgType::I32, "its input that says how"),
    ],
    ..Class::new("FTPPortMapper", "rewriter", || Box::<FTPPortMapper>::default())
};

#[derive(Default)]
struct FTPPortMapper {
    control: Option<ElementId>,
    data: Option<ElementId>,
    input: usize,
}

/// A PORT command in a payload.
#[derive(Debug, PartialEq, Eq)]
struct Command {
    address: Ipv4Address,
    port: u16,
    /// Where its argument is in the payload.
    argument: std::ops::Range<usize>,
}

impl Command {
    /// The command that a payload begins with: six numbers, separated by commas, and the end of the line.
    fn parse(payload: &[u8]) -> Option<Command> {
        let (command, _) = payload.split_at_checked(5)?;
        if !command.eq_ignore_ascii_case(b"PORT ") {
            return None;
        }
        let start = 5 + payload[5..].iter().position(|&b| b != b' ')?;
        let is_part = |b: &u8| b.is_ascii_digit() || *b == b',';
        let end = start + payload[start..].iter().position(|b| !is_part(b))?;
        if !matches!(payload[end], b'\r' | b'\n') {
            return None;
        }
        let number = |digits: &[u8]| {
            let value =
                digits.iter().fold(0u32, |n, d| n.saturating_mul(10).saturating_add(u32::from(d - b'0')));
            u8::try_from(value).ok()
        };
        let numbers: Option<Vec<u8>> = payload[start..end].split(|&b| b == b',').map(number).collect();
        let [a, b, c, d, high, low] = numbers?[..] else { return None };
        let address = Ipv4Address::new(a, b, c, d);
        Some(Command { address, port: u16::from_be_bytes([high, low]), argument: start..end })
    }
}

/// The argument that announces an address and a port.
fn argument(id: &FlowId) -> String {
    let ([a, b, c, d], [high, low]) = (id.source().octets(), id.source_port.to_be_bytes());
    format!("{a},{b},{c},{d},{high},{low}")
}

/// A packet of a control connection with a command in it.
struct Control {
    id: FlowId,
    sequence: u32,
    /// Where the payload is in the packet, and how long it is.
    payload: usize,
    length: usize,
    command: Command,
}

impl Control {
    fn of(p: &Packet) -> Option<Control> {
        let (ip, transport) = headers(p)?;
        if ip.protocol != protocol::TCP || !ip.is_first_fragment() {
            return None;
        }
        let tcp = TcpHeader::peek(transport)?;
        let payload = transport.get(tcp.data_offset().max(20)..)?;
        let command = Command::parse(payload)?;
        let id = FlowId::new(ip.source(), tcp.source_port(), ip.destination(), tcp.destination_port());
        let (length, sequence) = (payload.len(), tcp.sequence());
        Some(Control { id, sequence, payload: p.len() - length, length, command })
    }
}

/// Puts other bytes into a packet in place of some of its own.
fn replace(p: &mut Packet, range: std::ops::Range<usize>, new: &[u8]) {
    let end = [new, &p.data()[range.end..]].concat();
    p.truncate(range.start);
    p.put(end.len())[range.start..].copy_from_slice(&end);
}

/// Makes lengths and checksums right after the payload has changed.
fn complete(p: &mut Packet) {
    let header = p.network_header_len().unwrap_or(0) as usize;
    let Some((ip, tcp)) = headers_mut(p) else { return };
    let length = (header + tcp.len()) as u16;
    ip.set_checksum(checksum::update(ip.checksum(), ip.total_len(), length));
    ip.set_total_len(length);
    let pseudo = ip.pseudo_sum(tcp.len() as u16);
    tcp[16..18].fill(0);
    let sum = pseudo.bytes(tcp).finish();
    tcp[16..18].copy_from_slice(&sum.to_be_bytes());
}

impl FTPPortMapper {
    /// The mapping of the control connection.
    fn control_entry(&self, control: &Control, cx: &Cx<'_>) -> Option<(Entry, u8)> {
        let shared = cx.exported::<Shared>(self.control?)?;
        let place = shared.membership()?;
        let found = place.translate(&place.lock(), protocol::TCP, control.id)?;
        Some(((found.place, found.direction), found.reply_anno))
    }

    /// The flow that the data connection becomes.
    fn data_flow(&self, control: &Control, reply_anno: u8, cx: &mut Cx<'_>) -> Option<FlowId> {
        let shared = cx.exported::<Shared>(self.data?)?;
        let place = shared.membership()?;
        let (command, server) = (&control.command, control.id.destination());
        let data_port = control.id.destination_port.wrapping_sub(1);
        let id = FlowId::new(command.address, command.port, server, data_port);
        let mut set = place.lock();
        let found = place.establish(&mut set, protocol::TCP, id, self.input, cx)?;
        set.flow_mut(found.place).reply_anno = reply_anno;
        Some(found.id)
    }

    /// Has sequence numbers shifted behind the packet.
    fn shift(&self, (flow, direction): Entry, from: u32, change: i32, cx: &Cx<'_>) {
        let Some(shared) = self.control.and_then(|id| cx.exported::<Shared>(id)) else { return };
        let Some(place) = shared.membership() else { return };
        let mut set = place.lock();
        set.sequences.entry(flow).or_default().add(direction, from, change);
        set.flow_mut(flow).has_deltas = true;
    }

    fn act(&self, p: &mut Packet, cx: &mut Cx<'_>) -> Option<()> {
        let control = Control::of(p)?;
        let (entry, reply_anno) = self.control_entry(&control, cx)?;
        let new = argument(&self.data_flow(&control, reply_anno, cx)?);
        // Making room for the data connection may have pushed out the control connection.
        let (entry, _) = self.control_entry(&control, cx).filter(|(now, _)| *now == entry)?;
        let Command { argument, .. } = &control.command;
        replace(p, control.payload + argument.start..control.payload + argument.end, new.as_bytes());
        let from = control.sequence.wrapping_add(control.length as u32);
        self.shift(entry, from, new.len() as i32 - argument.len() as i32, cx);
        complete(p);
        Some(())
    }

    /// Whether packets can get from here to the rewriter of the control connection.
    fn is_before(&self, control: ElementId, cx: &Cx<'_>) -> bool {
        let (mut seen, mut waiting) = (HashSet::new(), vec![cx.id()]);
        while let Some(id) = waiting.pop() {
            let next =
                cx.router().links().iter().filter(|link| link.from.element == id).map(|l| l.to.element);
            waiting.extend(next.filter(|&to| seen.insert(to)));
        }
        seen.contains(&control)
    }
}

impl SimpleElement for FTPPortMapper {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let mut element = |name: &str, fits: fn(&Cx<'_>, ElementId) -> bool, class: &str| {
            element_of(args, name, class, |id| fits(cx, id), cx)
        };
        self.control = element("CONTROL_REWRITER", super::is_tcp_rewriter, "TCPRewriter");
        self.data = element("DATA_REWRITER", super::is_rewriter, "IPRewriterBase");
        let input = args.get::<i32>("DATA_REWRITER_INPUT").unwrap_or(0);
        let inputs = self.data.map_or(usize::MAX, |id| cx.router().info(id).inputs.len());
        match usize::try_from(input).ok().filter(|&input| input < inputs) {
            Some(input) => self.input = input,
            None => args.error("DATA_REWRITER_INPUT out of range"),
        }
        if let Some(control) = self.control.filter(|&control| !self.is_before(control, cx)) {
            let info = cx.router().info(control);
            args.warn(format!(
                "control packet rewriter '{} :: {}' is not downstream",
                info.name, info.class_name
            ));
        }
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        // Packets without a command pass as they are.
        let _ = self.act(p, cx);
        Verdict::PASS
    }
}
