//! The text that changes a route table: arguments and the handlers `add`, `set`, `remove`, `ctrl`, `lookup`, `table`.
//!
//! Not the handlers themselves, which belong to the router elements. Words that are not literal addresses are looked up
//! through [`AddressNames`], so that `AddressInfo` names work.

use super::RouteTable;
use super::route::{Hop, Removal, Route, RouteError};
use clickwork_packet::addr::{Ipv4Address, Ipv4Prefix};
use clickwork_router::args::{FromArg, Names};
use std::fmt::{self, Write as _};

/// How words become addresses. The defaults read literal ones.
pub trait AddressNames {
    /// The prefix that `word` means, such as `10.0.0.0/8`.
    fn prefix(&self, word: &str) -> Option<Ipv4Prefix> {
        word.parse().ok()
    }

    /// The address that `word` means.
    fn address(&self, word: &str) -> Option<Ipv4Address> {
        word.parse().ok()
    }
}

/// No names: literal addresses only.
#[derive(Clone, Copy, Debug, Default)]
pub struct LiteralAddresses;

impl AddressNames for LiteralAddresses {}

/// What a command text is read with: the names it may use, and the number of output ports of the table's element.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The names of addresses.
    pub names: &'a dyn AddressNames,
    /// The number of output ports.
    pub outputs: u32,
}

/// Why a command was not carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandError {
    /// The text is not a route.
    ExpectedRoute,
    /// The text is not the name of a route to remove.
    ExpectedRemoval,
    /// The element has no such output port.
    BadOutput,
    /// A line of a transaction starts with an unknown word.
    BadCommand(String),
    /// The text is not an address to look up.
    ExpectedAddress,
    /// The table refused.
    Table(RouteError),
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ExpectedRoute => write!(f, "expected 'ADDR/MASK [GATEWAY] OUTPUT'"),
            Self::ExpectedRemoval => write!(f, "expected 'ADDR/MASK [GATEWAY OUTPUT]'"),
            Self::BadOutput => write!(f, "bad OUTPUT"),
            Self::BadCommand(word) => write!(f, "bad command '{word}'"),
            Self::ExpectedAddress => write!(f, "expected IP address"),
            Self::Table(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CommandError {}

impl From<RouteError> for CommandError {
    fn from(error: RouteError) -> Self {
        Self::Table(error)
    }
}

/// One change of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Adds a route for a prefix that has none.
    Add(Route),
    /// Adds or replaces a route.
    Set(Route),
    /// Removes a route.
    Remove(Removal),
}

impl Command {
    /// Reads one line of a transaction: `add ROUTE`, `set ROUTE` or `remove ROUTE`. An empty line is no command.
    pub fn parse(line: &str, context: Context<'_>) -> Result<Option<Self>, CommandError> {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match word {
            "" => Ok(None),
            "add" => parse_route(rest, context).map(Self::Add).map(Some),
            "set" => parse_route(rest, context).map(Self::Set).map(Some),
            "remove" => parse_removal(rest, context).map(Self::Remove).map(Some),
            _ => Err(CommandError::BadCommand(word.to_owned())),
        }
    }

    /// Carries the command out, and returns what to do to undo it.
    pub fn run(self, table: &mut dyn RouteTable) -> Result<Self, RouteError> {
        match self {
            Self::Add(route) => table.insert(route, false).map(|_| Self::undo_insert(route, None)),
            Self::Set(route) => table.insert(route, true).map(|old| Self::undo_insert(route, old)),
            Self::Remove(removal) => table.remove(&removal).map(Self::Add),
        }
    }

    fn undo_insert(route: Route, old: Option<Route>) -> Self {
        match old {
            Some(old) => Self::Set(old),
            None => Self::Remove(Removal::new(route.prefix(), None)),
        }
    }
}

/// Reads `ADDR/MASK [GATEWAY|-] OUTPUT`.
pub fn parse_route(text: &str, context: Context<'_>) -> Result<Route, CommandError> {
    let (prefix, gateway, port) = parse(text, context.names).ok_or(CommandError::ExpectedRoute)?;
    let port = output(port.ok_or(CommandError::ExpectedRoute)?, context)?;
    Ok(Route::new(prefix, gateway, port))
}

/// Reads `ADDR/MASK`, or a whole route, which then must agree. Port -1 stands for any.
pub fn parse_removal(text: &str, context: Context<'_>) -> Result<Removal, CommandError> {
    let (prefix, gateway, port) = parse(text, context.names).ok_or(CommandError::ExpectedRemoval)?;
    let hop = match port {
        None | Some(-1) => None,
        Some(port) => Some(Hop { gateway, port: output(port, context)? }),
    };
    Ok(Removal::new(prefix, hop))
}

/// The prefix, the gateway (`0.0.0.0` if left out or `-`), and the port if there is one.
fn parse(text: &str, names: &dyn AddressNames) -> Option<(Ipv4Prefix, Ipv4Address, Option<i64>)> {
    let mut words = text.split_whitespace().peekable();
    let prefix = names.prefix(words.next()?)?;
    let gateway = words.peek().and_then(|&word| parse_gateway(word, names));
    if gateway.is_some() {
        words.next();
    }
    let port = words.next().map(|word| parse_integer(word).ok_or(())).transpose().ok()?;
    words.next().is_none().then_some((prefix, gateway.unwrap_or_default(), port))
}

/// The gateway that `word` means. A number means none: it is the output, and no name need be looked up for it.
fn parse_gateway(word: &str, names: &dyn AddressNames) -> Option<Ipv4Address> {
    match word {
        "-" => Some(Ipv4Address::UNSPECIFIED),
        _ if parse_integer(word).is_some() => None,
        _ => names.address(word),
    }
}

/// A number as arguments are: decimal, hexadecimal, octal or binary, perhaps with a sign.
fn parse_integer(text: &str) -> Option<i64> {
    i32::from_arg(text, &Names::default()).ok().map(i64::from)
}

fn output(port: i64, context: Context<'_>) -> Result<u32, CommandError> {
    u32::try_from(port).ok().filter(|&port| port < context.outputs).ok_or(CommandError::BadOutput)
}

/// The handler `ctrl`: all commands of `text`, one a line, or none of them.
pub fn transact(table: &mut dyn RouteTable, text: &str, context: Context<'_>) -> Result<(), CommandError> {
    let mut undo = Vec::new();
    for line in text.lines() {
        let outcome = Command::parse(line, context).and_then(|command| match command {
            Some(command) => Ok(Some(command.run(table)?)),
            None => Ok(None),
        });
        match outcome {
            Ok(step) => undo.extend(step),
            Err(error) => {
                roll_back(table, undo);
                return Err(error);
            }
        }
    }
    Ok(())
}

fn roll_back(table: &mut dyn RouteTable, undo: Vec<Command>) {
    for step in undo.into_iter().rev() {
        let undone = step.run(table);
        debug_assert!(undone.is_ok(), "each step was possible in the state it leads back to");
    }
}

/// The handler `lookup`: `OUTPUT GATEWAY`, `OUTPUT`, or `-1` if no route leads to the address.
pub fn lookup(table: &dyn RouteTable, text: &str, context: Context<'_>) -> Result<String, CommandError> {
    let text = text.trim();
    let address = context.names.address(text).ok_or(CommandError::ExpectedAddress)?;
    Ok(table.lookup(address).map_or_else(|| "-1".to_owned(), |hop| hop.to_string()))
}

/// The handler `table`: one route a line.
pub fn dump(table: &dyn RouteTable) -> String {
    let mut text = String::new();
    for route in table.routes() {
        writeln!(text, "{}", route.table_line()).expect("a String takes any text");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::{LinearTable, RadixTable};
    use super::*;

    const CONTEXT: Context<'_> = Context { names: &LiteralAddresses, outputs: 4 };

    fn route(text: &str) -> Result<Route, CommandError> {
        parse_route(text, CONTEXT)
    }

    #[test]
    fn reads_the_forms_of_a_route() {
        assert_eq!(route("10.0.0.0/8 10.1.0.1 2").unwrap().to_string(), "10.0.0.0/8 10.1.0.1 2");
        assert_eq!(route(" 10.1.2.3/255.0.0.0\t- 3 ").unwrap().to_string(), "10.0.0.0/8 - 3");
        assert_eq!(route("10.0.0.2 0x0").unwrap().to_string(), "10.0.0.2/32 - 0");
        assert_eq!(route("0/0 1").unwrap().to_string(), "0.0.0.0/0 - 1");
        for three in ["03", "0b11", "+3", "0X3"] {
            assert_eq!(route(&format!("0/0 {three}")).unwrap().to_string(), "0.0.0.0/0 - 3", "{three}");
        }
        for text in [
            "",
            "x",
            "10/8",
            "10/8 -",
            "10/8 1.2.3.4",
            "10/8 1.2.3.4 1 1",
            "10/8 g 1",
            "10/8 0x+1",
            "10/8 08",
            "10/8 2147483648",
        ] {
            assert_eq!(route(text), Err(CommandError::ExpectedRoute), "{text}");
        }
        for text in ["10/8 4", "10/8 -1", "10/8 1.2.3.4 99"] {
            assert_eq!(route(text), Err(CommandError::BadOutput), "{text}");
        }
    }

    #[test]
    fn reads_the_forms_of_a_removal() {
        let route = route("10/8 1.2.3.4 1").unwrap();
        for (text, matches) in [
            ("10/8", true),
            ("10/8 1.2.3.4 1", true),
            ("10/8 - -1", true),
            ("10/8 1", false),
            ("11/8", false),
        ] {
            assert_eq!(parse_removal(text, CONTEXT).unwrap().matches(&route), matches, "{text}");
        }
        assert_eq!(parse_removal("10/8 9", CONTEXT), Err(CommandError::BadOutput));
        assert_eq!(parse_removal("10/8 x", CONTEXT), Err(CommandError::ExpectedRemoval));
    }

    #[test]
    fn a_transaction_happens_whole_or_not_at_all() {
        let mut table = RadixTable::default();
        transact(&mut table, "add 10/8 1\n\n set 10.1/16 5.5.5.5 2\n", CONTEXT).unwrap();
        let before = dump(&table);
        assert_eq!(before, "10.0.0.0/8\t\t-\t\t1\n10.1.0.0/16\t\t5.5.5.5\t\t2\n");
        for (text, message) in [
            (
                "remove 10/8\nset 10.1/16 3\nadd 0/0 1\nadd 10.1/16 2",
                "conflict with existing route '10.1.0.0/16 - 3'",
            ),
            ("set 10/8 0\nremove 12/8", "route '12.0.0.0/8 - -1' not found"),
            ("remove 10/8 1\nadd 10/8 1.1.1.1 0\ndrop 10/8", "bad command 'drop'"),
            ("add 11/8 1\nadd 12/8", "expected 'ADDR/MASK [GATEWAY] OUTPUT'"),
            ("add 11/8 1\nremove", "expected 'ADDR/MASK [GATEWAY OUTPUT]'"),
        ] {
            assert_eq!(transact(&mut table, text, CONTEXT).unwrap_err().to_string(), message);
            let mut after: Vec<_> = table.routes().map(|route| route.to_string()).collect();
            after.sort();
            assert_eq!(after, ["10.0.0.0/8 - 1", "10.1.0.0/16 5.5.5.5 2"], "{text}");
        }
    }

    #[test]
    fn lookups_are_answered_in_text() {
        let mut table = LinearTable::default();
        transact(&mut table, "add 10/8 1\nadd 10.1/16 5.5.5.5 2", CONTEXT).unwrap();
        let answer = |text| lookup(&table, text, CONTEXT);
        assert_eq!(answer("10.1.0.1").unwrap(), "2 5.5.5.5");
        assert_eq!(answer(" 10.2.0.1\n").unwrap(), "1");
        assert_eq!(answer("11.0.0.1").unwrap(), "-1");
        assert_eq!(answer("ten").unwrap_err().to_string(), "expected IP address");
    }
}
