//! PortInfo: names for TCP and UDP ports.

use clickwork_packet::headers::ipv4::protocol::{TCP, UDP};
use clickwork_router::args::{ArgError, ArgSpec, ArgType, Args, FromArg, NameValue, Names, split_words};
use clickwork_router::facts::phase;
use clickwork_router::{Class, Cx, Element};

/// The class facts.
pub static CLASS: Class = Class {
    help: "gives names to TCP and UDP ports",
    manual: "Each argument is a name, a port number with or without '/tcp' or '/udp', and perhaps further names for the \
             same port. Elements in the same compound and in those within may write the name wherever they take a port. \
             An argument or rest of one that begins with '#' is a comment, so that lines of /etc/services can be used.",
    example: "PortInfo(chat 5000/udp); InfiniteSource(LIMIT 1, STOP true) -> MarkIPHeader \
              -> c :: IPClassifier(dst udp port chat, -); c[0] -> Discard; c[1] -> Discard",
    ports: "0/0",
    phase: phase::INFO,
    args: &[ArgSpec::rest("NAME", ArgType::Other("NAME PORT[/PROTO]"), "a name and its port")],
    ..Class::new("PortInfo", "info", || Box::new(PortInfo))
};

struct PortInfo;

impl Element for PortInfo {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        for (index, entry) in args.rest().to_vec().iter().enumerate() {
            if let Err(error) = define(entry, args.names()) {
                args.report_in_rest(index, error);
            }
        }
    }
}

/// Defines what one argument says; an empty one, or a comment, says nothing. Ports of other protocols are passed over.
fn define(entry: &str, names: &Names) -> Result<(), ArgError> {
    let words = split_words(entry);
    let words: Vec<&str> =
        words.iter().map(String::as_str).take_while(|word| !word.starts_with('#')).collect();
    let Some((name, rest)) = words.split_first() else { return Ok(()) };
    let (port, others) = rest.split_first().unwrap_or((&"", &[]));
    let (port, protocol) = port.split_once('/').map_or((*port, None), |(port, of)| (port, Some(of)));
    let Ok(port) = u16::from_arg(port, names) else {
        return Err(
            ArgError::new(format!("expected 'NAME PORT/PROTO', got '{entry}'")).hint("such as 'http 80/tcp'")
        );
    };
    let number = protocol.map(|protocol| names.ip_proto(protocol));
    for name in std::iter::once(name).chain(others) {
        if matches!(number, None | Some(Some(TCP))) {
            names.define(name, NameValue::TcpPort(port));
        }
        if matches!(number, None | Some(Some(UDP))) {
            names.define(name, NameValue::UdpPort(port));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_defined_for_their_protocol() {
        let names = Names::default();
        for entry in ["a 1/tcp", "b 2/udp b2 b3 # the second", "c 3", "# d 4", "", "e 5/sctp"] {
            define(entry, &names).unwrap();
        }
        let ports = |name| (names.tcp_port(name), names.udp_port(name));
        assert_eq!([ports("a"), ports("b")], [(Some(1), None), (None, Some(2))]);
        assert_eq!([ports("b3"), ports("c")], [(None, Some(2)), (Some(3), Some(3))]);
        assert_eq!([ports("d"), ports("e"), ports("the")], [(None, None); 3]);
    }

    #[test]
    fn an_entry_needs_a_number() {
        for entry in ["a", "a b", "a 65536", "a /tcp"] {
            let error = define(entry, &Names::default()).unwrap_err();
            assert_eq!(error.message, format!("expected 'NAME PORT/PROTO', got '{entry}'"));
        }
    }
}
