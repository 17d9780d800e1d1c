//! AggregateCounter: counts packets or bytes of each aggregate.

mod output;
#[cfg(test)]
mod tests;
mod tree;

use super::call::{CallAt, Rest, call_now, call_then};
use crate::values::parse;
use clickwork_packet::{BATCH_SIZE, Batch, Packet, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args, Filename, FromArg, HandlerCall, Names};
use clickwork_router::element::{split_batch, try_downcast};
use clickwork_router::{Class, Cx, Element, read_handler, write_handler};
use output::Format;
use tree::Tree;

/// The class facts.
pub static CLASS: Class = Class {
    help: "counts packets or bytes of each aggregate",
    manual: "Counts how many packets, or with BYTES bytes, it has seen of each value of the aggregate annotation. The \
             write handlers write_text_file, write_ip_file, write_pdf_file and write_file write the counts to a file, \
             '-' for standard output: as 'AGGREGATE COUNT' lines, with aggregates as IP addresses, with counts as parts \
             of the sum, and as pairs of 32-bit words.\n\n\
             While it is frozen, by the handler 'freeze' or because an argument says so, it counts known aggregates \
             only; what comes in by input 1 is always counted in this way. With two outputs, in push, packets that were \
             not counted leave by output 1. AGGREGATE_FREEZE, AGGREGATE_STOP and AGGREGATE_CALL say what happens when \
             there are N aggregates and one more appears, COUNT_FREEZE, COUNT_STOP and COUNT_CALL what happens when \
             the sum of counts reaches N; one of each three may be given.\n\n\
             It never knows more than about CAPACITY aggregates, which take 32 bytes each; packets of further ones are \
             not counted, and the handler 'refused' says how many there were.",
    example: "InfiniteSource(LIMIT 3, STOP true) -> AggregateLength -> a :: AggregateCounter -> Discard; \
              DriverManager(wait_stop, write a.write_text_file -)",
    ports: "1-2/1-2",
    args: &[
        ArgSpec::keyword("BYTES", ArgType::Bool, "false", "whether bytes are counted instead of packets"),
        ArgSpec::keyword("IP_BYTES", ArgType::Bool, "false", "whether bytes count from the IP header"),
        ArgSpec::keyword("MULTIPACKET", ArgType::Bool, "true", "whether a packet may stand for several"),
        ArgSpec::keyword("EXTRA_LENGTH", ArgType::Bool, "true", "whether bytes that were not captured count"),
        ArgSpec::keyword("AGGREGATE_FREEZE", ArgType::U32, "", "number of aggregates at which it freezes"),
        ArgSpec::keyword("COUNT_FREEZE", ArgType::U64, "", "count at which it freezes"),
        ArgSpec::keyword(
            "AGGREGATE_STOP",
            ArgType::U32,
            "",
            "number of aggregates at which the driver stops",
        ),
        ArgSpec::keyword("COUNT_STOP", ArgType::U64, "", "count at which the driver stops"),
        ArgSpec::keyword(
            "AGGREGATE_CALL",
            ArgType::Other("N HANDLER [VALUE]"),
            "",
            "handler called at N aggregates",
        ),
        ArgSpec::keyword("COUNT_CALL", ArgType::Other("N HANDLER [VALUE]"), "", "handler called at count N"),
        ArgSpec::keyword("BANNER", ArgType::String, "", "text at the start of files"),
        ArgSpec::keyword("CAPACITY", ArgType::U32, "4194304", "how many aggregates are known at most"),
    ],
    handlers: &[
        write_handler!(
            "write_text_file",
            "writes aggregates and counts to a file",
            |e: &mut Counts, text, cx| e.write_file(text, Format::Text, cx)
        ),
        write_handler!("write_ascii_file", "the same", |e: &mut Counts, text, cx| e.write_file(
            text,
            Format::Text,
            cx
        )),
        write_handler!("write_file", "writes a binary file", |e: &mut Counts, text, cx| e.write_file(
            text,
            Format::Binary,
            cx
        )),
        write_handler!("write_ip_file", "writes aggregates as IP addresses", |e: &mut Counts, text, cx| e
            .write_file(text, Format::Address, cx)),
        write_handler!("write_pdf_file", "writes counts as parts of the sum", |e: &mut Counts, text, cx| e
            .write_file(text, Format::Fraction, cx)),
        read_handler!("freeze", "whether new aggregates are ignored", |e: &mut Counts, _| e.frozen)
            .flags("c")
            .and_write(write_handler!("", "", |e: &mut Counts, text, _| set(&mut e.frozen, text))),
        read_handler!("active", "whether anything is counted", |e: &mut Counts, _| e.active)
            .flags("c")
            .and_write(write_handler!("", "", |e: &mut Counts, text, _| set(&mut e.active, text))),
        write_handler!("stop", "becomes inactive and stops the driver", |e: &mut Counts, _, cx| {
            e.active = false;
            cx.stop_driver();
        })
        .flags("b"),
        write_handler!(
            "reaggregate_counts",
            "counts become aggregates, and are counted",
            |e: &mut Counts, _, _| e.reaggregate()
        ),
        write_handler!("counts_pdf", "the same", |e: &mut Counts, _, _| e.reaggregate()),
        read_handler!("banner", "text at the start of files", |e: &mut Counts, _| e.banner.clone())
            .and_write(write_handler!("", "", |e: &mut Counts, text, _| e.set_banner(text)))
            .raw(),
        write_handler!("clear", "forgets all counts", |e: &mut Counts, _, _| e.clear()),
        read_handler!("aggregate_call", "at how many aggregates what is called", |e: &mut Counts, _| {
            CallAt::show(e.aggregate_call.as_ref())
        })
        .and_write(write_handler!("", "", |e: &mut Counts, text, cx| {
            e.aggregate_call = written("aggregate_call", text, cx)?;
            Ok::<(), String>(())
        })),
        read_handler!("count_call", "at which count what is called", |e: &mut Counts, _| CallAt::show(
            e.count_call.as_ref()
        ))
        .and_write(write_handler!("", "", |e: &mut Counts, text, cx| {
            e.count_call = written("count_call", text, cx)?;
            Ok::<(), String>(())
        })),
        read_handler!("count", "sum of the counts", |e: &mut Counts, _| e.total),
        read_handler!("nagg", "number of aggregates seen", |e: &mut Counts, _| e.nonzero),
        read_handler!(
            "refused",
            "packets not counted because the capacity was reached",
            |e: &mut Counts, _| e.refused
        ),
    ],
    ..Class::new("AggregateCounter", "analysis", || Box::<Counts>::default())
};

/// How many aggregates are known at most, unless an argument says otherwise.
const CAPACITY: u32 = 1 << 22;

struct Counts {
    in_bytes: bool,
    from_ip: bool,
    multipacket: bool,
    extra_length: bool,
    frozen: bool,
    active: bool,
    tree: Tree,
    nonzero: u32,
    total: u64,
    refused: u64,
    aggregate_call: Option<CallAt<u32>>,
    count_call: Option<CallAt<u64>>,
    banner: String,
}

impl Default for Counts {
    fn default() -> Counts {
        Counts {
            in_bytes: false,
            from_ip: false,
            multipacket: true,
            extra_length: true,
            frozen: false,
            active: true,
            tree: Tree::with_capacity(CAPACITY as usize),
            nonzero: 0,
            total: 0,
            refused: 0,
            aggregate_call: None,
            count_call: None,
            banner: String::new(),
        }
    }
}

fn set(slot: &mut bool, text: &str) -> Result<(), String> {
    *slot = parse(text, "").map_err(|_| "type mismatch")?;
    Ok(())
}

/// A call that a handler is written with; none if the text is empty.
fn written<N: FromArg + std::fmt::Display>(
    name: &str,
    text: &str,
    cx: &mut Cx<'_>,
) -> Result<Option<CallAt<N>>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let wrong = format!("argument to '{name}' should be 'N HANDLER [VALUE]'");
    let call = CallAt::parse(text, &cx.names(), &wrong)?;
    cx.check_call(&call.call)?;
    Ok(Some(call))
}

/// What one of the three arguments `KIND_FREEZE`, `KIND_STOP` and `KIND_CALL` asks for.
fn configured<N: FromArg + std::fmt::Display>(
    args: &mut Args,
    names: [&'static str; 3],
    wrong: &str,
    element: &str,
) -> Option<CallAt<N>> {
    let [freeze, stop, call] = names;
    let own = |at, handler: &str| {
        let call = HandlerCall::from_arg(&format!("{element}.{handler}"), &Names::default()).ok()?;
        Some(CallAt { at, call })
    };
    let frozen = args.get(freeze).and_then(|at| own(at, "freeze true"));
    let stopped = args.get(stop).and_then(|at| own(at, "stop"));
    let text = args.raw(call).filter(|text| !text.is_empty()).map(str::to_owned);
    if usize::from(frozen.is_some()) + usize::from(stopped.is_some()) + usize::from(text.is_some()) > 1 {
        args.error(format!("'{freeze}', '{stop}', and '{call}' are mutually exclusive"));
    }
    let called = text.and_then(|text| match CallAt::parse(&text, args.names(), wrong) {
        Ok(call) => Some(call),
        Err(e) => {
            args.error(e);
            None
        }
    });
    frozen.or(stopped).or(called)
}

/// What has become of a packet.
enum Update {
    /// It was counted, and now perhaps a handler is to be called.
    Counted(Option<HandlerCall>),
    /// It is to be counted after a handler has been called.
    CallFirst(HandlerCall),
    /// It was not counted.
    Ignored,
}

impl Counts {
    /// What the packet counts for.
    fn amount(&self, p: &Packet) -> u32 {
        if !self.in_bytes {
            return 1u32.wrapping_add(if self.multipacket { p.anno_u32(anno::EXTRA_PACKETS) } else { 0 });
        }
        let extra = if self.extra_length { p.anno_u32(anno::EXTRA_LENGTH) } else { 0 };
        let before_ip = if self.from_ip { p.network_offset().unwrap_or(0) } else { 0 };
        (p.len() as u32).wrapping_add(extra).wrapping_sub(before_ip as u32)
    }

    /// Counts a packet, unless a handler is to be called before.
    fn update(&mut self, p: &Packet, frozen: bool) -> Update {
        if !self.active {
            return Update::Ignored;
        }
        let amount = self.amount(p);
        let Some(count) = self.tree.count(p.anno_u32(anno::AGGREGATE), frozen) else {
            self.refused += u64::from(!frozen);
            return Update::Ignored;
        };
        let is_new = *count == 0 && amount > 0;
        if is_new && let Some(call) = self.aggregate_call.take_if(|call| self.nonzero >= call.at) {
            return Update::CallFirst(call.call);
        }
        *count = count.wrapping_add(amount);
        self.nonzero += u32::from(is_new);
        self.total += u64::from(amount);
        let call = self.count_call.take_if(|call| self.total >= call.at);
        Update::Counted(call.map(|call| call.call))
    }

    /// Counts packets of an input, and sends them on, while handlers may have to be called.
    fn count_and_send(&mut self, port: usize, mut rest: Rest, cx: &mut Cx<'_>) {
        let go_on = match port {
            0 => |e: &mut Counts, rest, cx: &mut Cx<'_>| e.count_and_send(0, rest, cx),
            _ => |e: &mut Counts, rest, cx: &mut Cx<'_>| e.count_and_send(1, rest, cx),
        };
        while let Some(p) = rest.pop_front() {
            match self.update(&p, self.frozen || port == 1) {
                Update::CallFirst(call) => {
                    rest.push_front(p);
                    return call_then(&call, rest, cx, go_on);
                }
                Update::Counted(call) => {
                    cx.emit(0, p);
                    if let Some(call) = call {
                        return call_then(&call, rest, cx, go_on);
                    }
                }
                Update::Ignored => cx.emit(usize::from(cx.outputs() > 1), p),
            }
        }
    }

    /// Counts a packet that is pulled.
    fn count_now(&mut self, p: &Packet, port: usize, cx: &mut Cx<'_>) {
        loop {
            match self.update(p, self.frozen || port == 1) {
                Update::CallFirst(call) => call_now(self, &call, cx),
                Update::Counted(Some(call)) => return call_now(self, &call, cx),
                Update::Counted(None) | Update::Ignored => return,
            }
        }
    }

    fn clear(&mut self) {
        self.tree.clear();
        (self.nonzero, self.total) = (0, 0);
    }

    /// Makes aggregates of the counts. As in Click, the zero counts of the tree's inner nodes are counted too.
    fn reaggregate(&mut self) {
        let counts = self.tree.all_counts();
        self.clear();
        for count in counts {
            if let Some(n) = self.tree.count(count, false) {
                self.nonzero += u32::from(*n == 0);
                *n += 1;
                self.total += 1;
            }
        }
    }

    fn set_banner(&mut self, text: &str) {
        self.banner = text.to_owned();
        if text == "\n" {
            self.banner.clear();
        } else if !text.is_empty() && !text.ends_with('\n') {
            self.banner.push('\n');
        }
    }

    fn write_file(&self, name: &str, format: Format, cx: &Cx<'_>) -> Result<(), String> {
        let Filename(name) = parse(name, "").map_err(|_| "argument should be filename")?;
        let file = output::file(&self.tree, format, &self.banner, self.nonzero, self.total);
        if name.as_os_str() == "-" {
            cx.router().output().raw(&file);
            return Ok(());
        }
        let failed = |e| format!("{}: {}", name.display(), crate::capture::error::system_message(&e));
        std::fs::write(&name, file).map_err(failed)
    }
}

impl Element for Counts {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let mut capacity = CAPACITY;
        args.read("BYTES", &mut self.in_bytes)
            .read("IP_BYTES", &mut self.from_ip)
            .read("MULTIPACKET", &mut self.multipacket)
            .read("EXTRA_LENGTH", &mut self.extra_length)
            .read("BANNER", &mut self.banner)
            .read("CAPACITY", &mut capacity);
        self.tree = Tree::with_capacity(capacity as usize);
        let wrong = "AGGREGATE_CALL first word should be unsigned (number of aggregates)";
        let names = ["AGGREGATE_FREEZE", "AGGREGATE_STOP", "AGGREGATE_CALL"];
        self.aggregate_call = configured(args, names, wrong, cx.name());
        let wrong = "COUNT_CALL first word should be unsigned (count)";
        self.count_call = configured(args, ["COUNT_FREEZE", "COUNT_STOP", "COUNT_CALL"], wrong, cx.name());
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.aggregate_call.as_ref().map_or(Ok(()), |c| cx.check_call(&c.call))?;
        self.count_call.as_ref().map_or(Ok(()), |c| cx.check_call(&c.call))
    }

    fn push(&mut self, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        if self.aggregate_call.is_some() || self.count_call.is_some() {
            return self.count_and_send(port, batch.drain().collect(), cx);
        }
        let mut outs = [0; BATCH_SIZE];
        for (p, out) in batch.iter().zip(&mut outs) {
            *out = u16::from(matches!(self.update(p, self.frozen || port == 1), Update::Ignored));
        }
        if cx.outputs() > 1 {
            let mut outs = outs.into_iter();
            split_batch(batch, cx, "", |_| outs.next());
        }
    }

    fn pull(&mut self, port: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let batch = cx.pull(if cx.inputs() == 1 { 0 } else { port }, limit);
        for p in batch.iter() {
            self.count_now(p, port, cx);
        }
        batch
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<Counts>(old) {
            self.tree = std::mem::take(&mut old.tree);
            (self.nonzero, self.total, self.refused) = (old.nonzero, old.total, old.refused);
        }
    }
}
